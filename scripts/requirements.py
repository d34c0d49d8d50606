"""What is required, which tests name it, and where it is shown: for `docs.py`, and for the tests of the docs.

A test names a requirement in the docstring of its module, class or function (`E10`, or `T2-T10`), or at the beginning
of its own name (`test_e10_…`). What a requirement is, in a sentence, and its pages stand in
`docs/reference/requirements.toml`.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

ROOT: Final = Path(__file__).parent.parent
WORDS: Final = ROOT / "docs/reference/requirements.toml"
MANY: Final = {"T": 12, "E": 24, "M": 11, "A": 10, "X": 13}
"""How many there are of each letter. A number is kept for life."""
NUMBERS: Final = tuple(f"{letter}{n}" for letter, last in MANY.items() for n in range(1, last + 1))
_NAMED: Final = re.compile(r"\b([TEMAX])(\d{1,2})(?:[-\u2013]\1(\d{1,2}))?\b")
_IN_A_NAME: Final = re.compile(r"test_([temax]\d{1,2})_")


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the table."""

    what: str = ""
    """What is there, in a sentence; nothing, if nothing is."""
    pages: tuple[str, ...] = ()
    """Links to where it is shown."""
    later: str = ""
    """What of it is not built yet."""


def required() -> dict[str, Requirement]:
    """Every requirement by its number."""
    return msgspec.convert(tomllib.loads(WORDS.read_text(encoding="utf-8")), dict[str, Requirement])


def named(text: str) -> Iterator[str]:
    """The numbers that a text names, each of a range."""
    for letter, first, last in _NAMED.findall(text):
        yield from (f"{letter}{n}" for n in range(int(first), int(last or first) + 1))


def _named_in(test: ast.AST) -> Iterator[str]:
    if isinstance(test, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield from named(ast.get_docstring(test) or "")
    if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from map(str.upper, _IN_A_NAME.findall(test.name))


def tests() -> dict[str, list[Path]]:
    """The files of tests that name each number."""
    found: dict[str, list[Path]] = {number: [] for number in NUMBERS}
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for number in {number for each in ast.walk(tree) for number in _named_in(each)}:
            found.get(number, []).append(path)
    return found


def _link(path: Path) -> str:
    name = path.relative_to(ROOT / "tests").as_posix().removesuffix(".py").replace("test_", "")
    return f"[{name}](../../{path.relative_to(ROOT)})"


def table() -> Iterator[str]:
    """What is built: number, what it is, where it is shown, which tests name it."""
    shown_by = tests()
    yield "| no. | what | shown in | tests |\n|---|---|---|---|\n"
    for number, each in required().items():
        if each.what:
            links = ", ".join(map(_link, shown_by[number]))
            yield f"| {number} | {each.what} | {', '.join(each.pages)} | {links} |\n"


def still_open() -> Iterator[str]:
    """What is not built yet, whole or in part."""
    yield "| no. | not built yet |\n|---|---|\n"
    for number, each in required().items():
        if each.later:
            yield f"| {number}{' in part' if each.what else ''} | {each.later} |\n"
