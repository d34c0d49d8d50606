"""What can go wrong, by code. A code keeps its meaning for ever; each has a page of its own.

Ranges: 1xxx plans and configuration, 2xxx the journal, 3xxx execution, 4xxx models, 5xxx tools and
the sandbox, 6xxx the HTTP API, 7xxx the kits.
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


class PerdureError(Exception):
    """Anything a caller may want to handle: a stable code, a sentence, and what to do about it."""

    code: ClassVar[str] = "PRD0000"
    exit_code: int = 1
    """What a command that fails with it ends with."""

    def __init__(self, message: str, help: str = "") -> None:  # noqa: A002  the word users read
        super().__init__(message)
        self.message = message
        self.help = help


class HandedOn(PerdureError):
    """What happened in another process, with the code and the exit code that it has there."""

    def __init__(self, message: str, help: str = "", code: str = "", exit_code: int = 1) -> None:  # noqa: A002  the word users read
        super().__init__(message, help)
        self.exit_code = exit_code
        if code:
            vars(self)["code"] = code  # a class has one code; this one hands on that of another


def codes() -> list[str]:
    """Every code that has a page."""
    return sorted(page.name.removesuffix(".md") for page in _pages().iterdir() if page.name.endswith(".md"))


def page(code: str) -> str | None:
    """The page of a code, as Markdown."""
    found = _pages().joinpath(f"{code}.md")
    return found.read_text(encoding="utf-8") if code.isalnum() and found.is_file() else None


def _pages() -> "Traversable":
    from importlib import resources  # noqa: PLC0415  costs more than the rest of this file

    return resources.files(__name__).joinpath("pages")


def title(code: str) -> str:
    """The heading of a code's page, without the code."""
    first, _, _ = (page(code) or "").partition("\n")
    return first.removeprefix(f"# {code}").strip(" ·")
