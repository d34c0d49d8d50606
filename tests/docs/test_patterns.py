"""The page of workflow patterns: every pattern is there, and every plan on the page is one that passes."""

import re
from pathlib import Path

import pytest

from perdure.plan.reading import read_text

PAGE = (Path(__file__).parents[2] / "docs/reference/patterns.md").read_text(encoding="utf-8")
NUMBERS = [1, 2, 3, 4, 5, 6, 7, 11, 13, 14, 16, 19, 20, 21, 24, 25, 29, 32, 34, 35, 37, 39]
HEADING = re.compile(r"^## WCP-(\d+) · (.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections():
    """The text of each section by the number of its pattern."""
    _, *parts = HEADING.split(PAGE)
    return {int(number): text for number, text in zip(parts[::3], parts[2::3], strict=True)}


def plan_of(number):
    [block] = BLOCK.findall(sections()[number])
    return block


def test_all_patterns_are_there_in_order_and_once():
    assert [int(number) for number, _ in HEADING.findall(PAGE)] == NUMBERS
    assert re.findall(r"^## (?!WCP-\d+ · )(.*)$", PAGE, re.MULTILINE) == []


def test_the_table_names_what_the_sections_name():
    rows = re.findall(r"^\| WCP-(\d+) \| (.+?) \| .+ \|$", PAGE, re.MULTILINE)
    assert rows == HEADING.findall(PAGE)


@pytest.mark.parametrize("number", NUMBERS)
def test_each_plan_passes_without_a_word(number):
    reading = read_text(plan_of(number), f"WCP-{number}")
    assert reading.problems == []
    assert reading.dialect == "current"
    assert plan_of(number).startswith("perdure: 1\n")


@pytest.mark.parametrize("number", NUMBERS)
def test_each_plan_can_be_drawn(number):
    from perdure.plan.drawing.mermaid import mermaid

    plan = read_text(plan_of(number)).usable()
    assert all(step.id in mermaid(plan) for step in plan.steps)


def test_no_two_plans_have_the_same_name():
    names = [read_text(plan_of(number)).usable().name for number in NUMBERS]
    assert len(set(names)) == len(NUMBERS)
    assert "" not in names
