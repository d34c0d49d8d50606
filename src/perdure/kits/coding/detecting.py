"""Which command tests a repository, as far as its files tell. Nothing is run, and nothing is parsed that could run.

Files come as names and texts: whoever asks reads them where they are, in a commit or in a directory.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

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
_MODULE: Final = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test)\.py")
_NEAR: Final = re.compile(r"(?:tests?/.*|[^/]*)")
"""Where a project has tests of its own: what lies deeper may be somebody else's."""
_WANTS_PYTEST: Final = re.compile(r"^\s*(?:import|from) pytest\b", re.MULTILINE)
_BARE: Final = re.compile(
    r"^(?:async )?def test(?!_suite\b)\w*\(|^class Test\w*\s*(?:\(\s*(?:object)?\s*\))?\s*:", re.MULTILINE
)
"""Tests that unittest passes over: functions by themselves, and classes that are no `TestCase`."""
_CASE: Final = re.compile(r"\bTestCase\b")


class Tests(NamedTuple):
    """What tests a repository."""

    command: tuple[str, ...] = ()
    """Its words; none if nothing tells."""
    files: tuple[str, ...] = ()
    """Modules that have tests for certain: a command that runs none of them is the wrong one."""


def telling(paths: Collection[str]) -> list[str]:
    """The files whose texts tell something: those with a mark, and modules that are called as tests are."""
    return [name for name in MARKS if name in paths] + _modules(paths)


def tests_in(paths: Collection[str], texts: Mapping[str, str]) -> Tests:
    """What tests a repository with these files. `texts` are those of the files that tell something."""
    modules = [each for each in _modules(paths) if each in texts]
    found = tuple(each for each in modules if _BARE.search(texts[each]) or _CASE.search(texts[each]))
    return Tests(_marked(texts) or _by_modules(modules, paths, texts), found)


def _modules(paths: Collection[str]) -> list[str]:
    found = sorted(each for each in paths if _MODULE.fullmatch(each))
    near = [each for each in found if _NEAR.fullmatch(each)]
    return (near or found)[:MOST]


def _marked(texts: Mapping[str, str]) -> tuple[str, ...]:
    marks = ((words, f"\n{texts[name]}", said) for name, (said, words) in MARKS.items() if name in texts)
    return next((words for words, text, said in marks if said in text), ())


def _by_modules(modules: Sequence[str], paths: Collection[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """The runner that sees the tests of all modules: unittest sees only those of its own kind, and pytest sees both."""
    if not modules:
        return ()
    if any(_WANTS_PYTEST.search(texts[each]) or _BARE.search(texts[each]) for each in modules):
        return PYTEST
    start = next((PurePosixPath(each).parts[0] for each in modules if each.startswith(("test/", "tests/"))), "")
    if not start:
        return UNITTEST
    is_package = f"{start}/__init__.py" in paths  # else nobody can import it from the root
    return (*UNITTEST, "-s", start, *(("-t", ".") if is_package else ()))
