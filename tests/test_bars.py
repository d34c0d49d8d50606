"""What has to be run by the tests, and what cannot be run where anybody looks."""

import ast
from pathlib import Path

import bars
import pytest

TREE = Path(__file__).parents[1]


def a_file(run, missing=(), branches=(0, 0), functions=None):
    summary = {
        "num_statements": len(run) + len(missing),
        "covered_lines": len(run),
        "num_branches": branches[1],
        "covered_branches": branches[0],
    }
    gone = [[line, -1] for line in missing]
    lines = {"executed_lines": list(run), "missing_lines": list(missing), "missing_branches": gone}
    return {"summary": summary, **lines, "functions": functions or {}}


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(bars, "BARS", {"room": (90, ("src/room/*",))})
    monkeypatch.setattr(bars, "ELSEWHERE", {"src/room/inside.py": "", "src/room/both.py::main": ""})


@pytest.mark.usefixtures("table")
def test_a_bar_holds_for_statements_and_for_branches():
    ((line, holds),) = bars.told({"src/room/a.py": a_file(range(9), [9], (10, 10)), "src/else/a.py": a_file([], [1])})
    assert (line, holds) == ("room        90.00 % of statements, 100.00 % of branches, bar 90", True)
    assert not next(bars.told({"src/room/a.py": a_file(range(99), [100], (8, 10))}))[1]
    assert not next(bars.told({"src/room/a.py": a_file(range(8), [8, 9], (10, 10))}))[1]


@pytest.mark.usefixtures("table")
def test_what_was_not_run_is_told_by_file_and_line():
    found = a_file([1, 2], [7]) | {"missing_branches": [[2, 5], [2, -1], [7, 8]]}
    _, (told, _) = bars.told({"src/room/a.py": found})
    assert told.splitlines() == ["  src/room/a.py:7", "  src/room/a.py:2 to 5", "  src/room/a.py:2 to the end"]


@pytest.mark.usefixtures("table")
def test_what_runs_elsewhere_counts_for_nothing():
    main = a_file([], [5, 6, 7], (0, 2))
    both = a_file(range(1, 5), [5, 6, 7], (2, 4), {"main": main, "other": a_file([3])})
    assert list(bars.told({"src/room/both.py": both, "src/room/inside.py": a_file([], [1, 2])})) == [
        ("room       100.00 % of statements, 100.00 % of branches, bar 90", True)
    ]


def test_nothing_is_lost_of_a_room_without_branches():
    assert bars.share(0, 0) == 100


@pytest.mark.parametrize("place", bars.ELSEWHERE)
def test_what_runs_elsewhere_is_started_by_its_path_and_seen_from_outside(place):
    """Each is a file that says so, with the function that is named; and the test that sees it work is there."""
    name, _, function = place.partition("::")
    tree = ast.parse((TREE / name).read_bytes())
    assert "started by its path" in " ".join(ast.get_docstring(tree).split())
    names = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert not function or function in names
    assert "main" in names
    file, test = bars.ELSEWHERE[place].split("::")
    tests = ast.parse((TREE / "tests/tools" / file).read_bytes())
    assert test in {getattr(each, "name", "") for each in tests.body}


def test_every_bar_is_about_files_that_are_there():
    for _, patterns in bars.BARS.values():
        assert all(list(TREE.glob(each)) for each in patterns)


def test_before_anything_was_measured_it_says_what_measures(tmp_path, monkeypatch):
    monkeypatch.setenv("COVERAGE_FILE", str(tmp_path / ".coverage"))
    with pytest.raises(SystemExit, match="run make test"):
        bars.measured()
