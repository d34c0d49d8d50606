"""What models are told, each in a file of its own."""

from functools import cache


@cache
def prompt(name: str) -> str:
    """A text by its name."""
    from importlib import resources  # noqa: PLC0415  costs more than the rest of this file

    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
