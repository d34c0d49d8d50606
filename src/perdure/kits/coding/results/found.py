"""What one reader has found in what a command has left, and what a command leaves."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, Field

from perdure.kits.coding.results.report import Failing, How

MESSAGE: Final = 500
"""Letters of a message."""
DETAIL: Final = 2_000
"""Letters of a detail."""
NAME: Final = 500
"""Letters of a test's name."""
OWN: Final = "perdure-tests.xml"
"""The JUnit file that pytest is told to write, whoever starts it."""
_LEFT_OUT: Final = re.compile(r"^.*\n… [0-9,]+ bytes left out …\n.*$", re.MULTILINE)
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class Ran(BaseModel):
    """What `shell.run` has given."""

    code: int
    stdout: str = ""
    stderr: str = ""
    seconds: Annotated[float, Field(ge=0)] = 0.0
    truncated: bool = False
    signal: str = ""
    collected: dict[str, str] = {}
    uncollected: dict[str, str] = {}
    """Why a file was not read, or not to its end, by its path."""

    @property
    def files(self) -> dict[str, str]:
        """What it has written; without reports of a pytest that the tests themselves have started further down."""
        inner = f"/{OWN}"
        return {
            path: text for path, text in self.collected.items() if OWN not in self.collected or not path.endswith(inner)
        }

    @property
    def text(self) -> str:
        """What it has said, without colours, and without lines of which a part was left out."""
        return _LEFT_OUT.sub("\n", plain(f"{self.stdout}\n{self.stderr}"))


@dataclass(frozen=True, slots=True)
class Found:
    """What one reader has found."""

    how: How
    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None
    total: int | None = None
    """How many tests have come to an end."""
    failures: tuple[Failing, ...] = ()
    is_complete: bool = True
    """Whether all failures are among these."""
    ran: int | None = None
    """How many tests have passed or failed, each counted once; those that were skipped are not among them."""
    passing: frozenset[str] | None = None
    """Identities of the tests that have passed; None: nobody has said which."""
    skipping: frozenset[str] = frozenset()
    """Identities of the tests that were skipped, where it is said which have passed."""
    flaky: tuple[str, ...] = ()
    """Tests that the program itself has tried again, and that have passed then."""
    is_pytest: bool = False

    @property
    def bad(self) -> int | None:
        """How many failures there were."""
        if self.failed is not None and self.errors is not None:
            return max(self.failed + self.errors, len(self.failures))
        return len(self.failures) if self.is_complete else None


def plain(text: str) -> str:
    """A text as somebody would read it: no colours, and one way to end a line."""
    return _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


def failing(test: str, message: str, detail: str) -> Failing:
    """A failure, of which the message is cut at its end, and the detail at its beginning."""
    told = detail.strip("\n").rstrip()
    first = message.strip().partition("\n")[0].rstrip()
    return Failing(
        test=cut(test, NAME),
        message=cut(first, MESSAGE),
        detail=told if len(told) <= DETAIL else "…" + told[1 - DETAIL :],
    )


def cut(text: str, most: int) -> str:
    """A text of so many letters at most."""
    return text if len(text) <= most else text[: most - 1] + "…"
