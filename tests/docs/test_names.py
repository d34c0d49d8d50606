"""The page of names: each older plan on it is read, and becomes exactly the plan that is shown below it."""

import re
from pathlib import Path

import pytest

from perdure.plan.reading import read_text
from perdure.plan.writing import to_yaml

PAGE = (Path(__file__).parents[2] / "docs/reference/names.md").read_text(encoding="utf-8")
PAIR = re.compile(r"^```yaml older\n(.*?)^```\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAIRS = PAIR.findall(PAGE)


def first_line(pair):
    return pair[0].splitlines()[0]


def test_every_block_belongs_to_a_pair():
    assert len(PAIRS) == PAGE.count("```yaml older\n") == PAGE.count("```yaml\n")


def test_every_dialect_has_an_example():
    assert {read_text(older).dialect for older, _ in PAIRS} == {"labels", "needs", "numbered"}


@pytest.mark.parametrize("pair", PAIRS, ids=first_line)
def test_the_older_plan_becomes_the_one_shown(pair):
    older, current = pair
    reading = read_text(older)
    assert reading.errors == []
    assert to_yaml(reading.usable()) == current


@pytest.mark.parametrize("pair", PAIRS, ids=first_line)
def test_the_plan_shown_passes_and_is_written_as_it_stands(pair):
    reading = read_text(pair[1])
    assert reading.problems == []
    assert reading.dialect == "current"
    assert to_yaml(reading.usable()) == pair[1]
