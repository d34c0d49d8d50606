"""T2-T10, A2, X, M1: the plans that ship are right, and can be drawn in every form."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from perdure.plan.drawing.mermaid import mermaid
from perdure.plan.drawing.page import html
from perdure.plan.drawing.svg import svg
from perdure.plan.drawing.tree import plain_tree
from perdure.plan.index import Index
from perdure.plan.measures import measure
from perdure.plan.reading import read_file, read_text
from perdure.plan.writing import to_yaml

EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "plans").glob("*.yaml"))
SHIPPED = {
    "linear", "branching", "memory", "classic_loop", "components", "parallel", "refinement",
    "large_project", "prospect", "weather_timer", "assign_davis", "mixed", "release",
}  # fmt: skip


def test_all_of_them_are_there():
    assert {path.stem for path in EXAMPLES} >= SHIPPED


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_checked(path):
    reading = read_file(path)
    assert [str(problem) for problem in reading.problems] == []
    assert reading.dialect == "current"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_drawn(path):
    plan = read_file(path).usable()
    ids = [node.id for node in Index(plan).nodes]
    ET.fromstring(svg(plan))  # noqa: S314  our own picture
    for picture in (plain_tree(plan), mermaid(plan), svg(plan), html(plan)):
        assert [name for name in ids if name not in picture] == []
    assert measure(plan).steps == len(ids)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_written_and_read_again(path):
    plan = read_file(path).usable()
    assert read_text(to_yaml(plan)).usable() == plan


def test_the_broken_example_shows_five_mistakes():
    broken = Path(__file__).parents[1] / "examples" / "broken" / "release.yaml"
    problems = read_file(broken).problems
    assert len(problems) == 5
    assert all(problem.help and problem.line for problem in problems)
