"""What `make mutants` breaks, and how it counts."""

import importlib.util
import sys
from pathlib import Path

import pytest
from mutants import interval, place
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
