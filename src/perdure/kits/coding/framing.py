"""The ways of working on code that come with the kit, and the frame around each of them."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from perdure.agents import Template, classify, template_of
from perdure.kits.coding import plans
from perdure.kits.coding.completing import completed
from perdure.plan import Plan, inlined

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

USUAL: Final = "refactor"
"""The way that is gone where none fits the goal better."""
SHAPE: Final = "shape"
"""The name that the frame calls a way of working by."""
HOME: Final = "perdure.kits.coding"
_ENDING: Final = ".yaml"


def framed(shape: Plan) -> Plan:
    """A plan that stands for itself: a way of working on a copy of a commit, tests around it and commits after it.

    `PlanError` if it cannot be one. A way takes `goal`, `test`, `report`, `seconds`, `before` and `options`, and gives
    `summary`, `changes` and `rest`; what a plan does not say of that is added.
    """
    parts = {**plans(), SHAPE: completed(shape)}
    with resources.as_file(resources.files(HOME).joinpath("frame.yaml")) as file:
        return inlined(Plan.load(file), parts)


@cache
def templates() -> Mapping[str, Template]:
    """The ways of working, by name."""
    found = [each for each in _files("templates") if each.name.endswith(_ENDING)]
    read = [template_of(each.read_bytes(), each.name, "coding kit") for each in found]
    return {each.name: each for each in sorted(read, key=lambda each: each.name)}


def template_for(goal: str) -> tuple[Template, str]:
    """The way that fits a goal, and why."""
    verdict = classify(goal, templates().values())
    if verdict.chosen:
        return verdict.chosen.template, verdict.why
    return templates()[USUAL], f"{USUAL} is the usual way; {verdict.why}"


def _files(place: str) -> "Iterator[Traversable]":
    return resources.files(HOME).joinpath(place).iterdir()
