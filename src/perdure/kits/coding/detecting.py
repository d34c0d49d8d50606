"""Which command tests a repository, as far as its files tell. Nothing is run, and nothing is parsed that could run."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

PYTEST: Final = ("python3", "-m", "pytest", "-q")
UNITTEST: Final = ("python3", "-m", "unittest", "discover")
MOST: Final = 200
"""Modules that are looked into."""
LARGEST: Final = 256 * 1024
"""Bytes of a file that is looked into."""
MARKS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "pytest.ini": ("", PYTEST),
    "pyproject.toml": ("[tool.pytest", PYTEST),
    "setup.cfg": ("[tool:pytest]", PYTEST),
    "conftest.py": ("", PYTEST),
    "tests/conftest.py": ("", PYTEST),
    "Makefile": ("\ntest:", ("make", "test")),
    "package.json": ('"test":', ("npm", "test")),
    "Cargo.toml": ("", ("cargo", "test")),
    "go.mod": ("", ("go", "test", "./...")),
}
"""Files, what they say where tests are meant, and the command; the first one counts."""


def test_command(root: Path) -> tuple[str, ...]:
    """The words of the command; none if nothing tells."""
    for name, (said, words) in MARKS.items():
        if said in _text(root / name):
            return words
    return _by_modules(root)


def _text(file: Path) -> str | list[str]:
    """What a file says; nothing is in a file that is not there, or that is none."""
    if file.is_symlink() or not file.is_file():
        return []
    with file.open("rb") as read:
        return "\n" + read.read(LARGEST).decode("utf-8", "replace")


def _by_modules(root: Path) -> tuple[str, ...]:
    """The tests of a directory `tests`, or beside the code; modules that import pytest want that."""
    below, beside = _modules(root, "tests/**/test*.py"), _modules(root, "test*.py")
    if not below and not beside:
        return ()
    if any("import pytest" in _text(each) for each in (*below, *beside)):
        return PYTEST
    if not below:
        return UNITTEST
    is_package = (root / "tests/__init__.py").is_file()  # else nobody can import it from the root
    return (*UNITTEST, "-s", "tests", *(("-t", ".") if is_package else ()))


def _modules(root: Path, pattern: str) -> list[Path]:
    return sorted(islice(root.glob(pattern), MOST))
