"""What `make mutants` breaks, and how it counts."""

import importlib.util
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import measured
import mutants
import pytest
from click.testing import CliRunner
from mutants import ENDLESS, MISSED, NOTICED, UNPLACED, interval, place
from mutations import mutants_of

CODE = '''"""A module."""

LIMIT = 3


class Box:
    def is_open(self, count: int = 1, word: str = "a") -> bool:
        """Whether it is."""
        if count < LIMIT and not self.shut:
            return word == "yes"
        raise ValueError(f"no {count + 1}")

    shut = False


def doubled(values):
    return [each * 2 for each in values if each is not None]


def first(values):
    for each in values:
        if each:
            continue
        values.clear()
        return each
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "broken_by_lot.py"
    path.write_text(CODE)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    yield found
    del sys.modules[path.stem]


def changes_in(module, function):
    """How a statement reads before and after, for each change of a function."""
    return {each.told()[1:] for each in mutants_of(Path(module.__file__)) if each.function == function}


def test_each_change_is_one_thing_in_the_body_of_a_function(module):
    assert changes_in(module, "doubled") == {
        ("return [each * 2 for each in values if each is not None]", after)
        for after in (
            "return None",
            "return [each // 2 for each in values if each is not None]",
            "return [each * 3 for each in values if each is not None]",
            "return [each * 2 for each in values]",
            "return [each * 2 for each in values if each is None]",
        )
    }
    assert changes_in(module, "first") == {
        ("if each", "if not each"),
        ("continue", "break"),
        ("values.clear()", "None"),
        ("return each", "return None"),
    }


def test_sentences_defaults_and_annotations_are_left_alone(module):
    assert {after for _, after in changes_in(module, "Box.is_open")} == {
        "if count <= LIMIT and (not self.shut)",
        "if count < LIMIT or not self.shut",
        "if not (count < LIMIT and (not self.shut))",
        "return None",
        "return word != 'yes'",
        "return word == 'yesx'",
    }


def test_a_change_is_made_wherever_the_function_is_known(module):
    known, was = module.doubled, module.doubled.__code__
    change = next(each for each in mutants_of(Path(module.__file__)) if each.told()[2].startswith("return [each // 2"))
    try:
        assert place(change)
        assert known([4, None]) == [2]
    finally:
        known.__code__ = was
    assert known([4]) == [8]


def test_what_a_sample_says_of_all_has_borders():
    low, high = interval(85, 100)
    assert (round(low, 3), round(high, 3)) == (0.767, 0.907)
    assert interval(10, 10)[1] == pytest.approx(1)


@pytest.fixture
def said(monkeypatch):
    """What is told to whoever started it."""
    lines = []
    monkeypatch.setattr(mutants, "say", lines.append)
    return lines


def tried(*became):
    found = mutants.Mutating([], minutes=1, most=9, seed=7)
    found.total, found.results = 40, [(None, each) for each in became]
    return mutants.report(found, datetime.now(UTC))


def test_what_could_not_be_made_is_told_and_counts_for_nothing(said):
    row = tried(*[NOTICED] * 7, ENDLESS, MISSED, MISSED, UNPLACED, UNPLACED, UNPLACED)
    counted = {"tried": 10, "noticed": 8, "endless": 1, "missed": 2, "unplaced": 3, "score": 80.0, "seed": 7}
    assert row.items() >= counted.items()
    assert "8 of 10 noticed" in said[0]
    assert "3 that could not be made" in said[0]


@pytest.mark.parametrize("became", [(), (UNPLACED, UNPLACED)])
def test_where_nothing_was_judged_there_is_no_score(said, became):
    assert tried(*became) is None
    assert "nothing was judged" in said[0]


@pytest.mark.usefixtures("said")
def test_a_room_keeps_its_row_beside_others_and_both_are_a_table(tmp_path, monkeypatch):
    record = tmp_path / "mutants.json"
    for room, became in (("policy", NOTICED), ("core", MISSED), ("core", NOTICED)):
        mutants.keep(record, room, tried(NOTICED, became))
    assert [(room, row["score"]) for room, row in json.loads(record.read_bytes()).items()] == [
        ("core", 100.0),
        ("policy", 100.0),
    ]
    monkeypatch.setattr(measured, "KEPT", tmp_path)
    rows = "".join(measured.mutants()).splitlines()
    assert {each.count("|") for each in rows} == {11}
    assert rows[2].startswith("| core | 40 | 2 | 2 | 0 | 0 | 100.0 % |")


def test_a_part_of_a_room_is_not_recorded():
    result = CliRunner().invoke(mutants.main, ["core", "--only", "ladder", "--record", "x.json"])
    assert result.exit_code == 2
    assert "a whole room" in result.output
