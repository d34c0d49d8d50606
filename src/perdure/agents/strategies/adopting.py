"""Adopting: the steps of a plan as steps that an agent grows, under the names that they get there."""

from collections.abc import Mapping, Sequence
from typing import Any

from perdure.plan.referring import referring


def adopted(steps: Sequence[Mapping[str, Any]], born: int) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Steps without ids, whose needs and references are the new names; and the new name of each."""
    names = {each["id"]: f"s{born + n}" for n, each in enumerate(steps, 1)}
    return [_renamed(each, names) for each in steps], names


def _renamed(step: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    made = referring({word: value for word, value in step.items() if word != "id"}, names)
    return {**made, "needs": made.get("needs", [])}
