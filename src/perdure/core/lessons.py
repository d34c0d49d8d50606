"""Lessons: what an agent has learned at its work, and later runs should know.

A strategy marks a child by the tag `lesson`. When its group is over, what the child has said is remembered under the
task of the group, in the commit of that end: a text, or what stands under `lesson` in its output or in its value.
"""

from collections.abc import Iterator
from typing import Any, Final

from perdure.core.cells import Cell, Grown
from perdure.core.seeing import inputs_of, output_of
from perdure.core.state import State
from perdure.plan.raw import is_mapping

LESSON: Final = "lesson"
LONGEST: Final = 2_000
"""Letters of a task or of a lesson that are kept."""
MOST: Final = 20
"""Lessons of one group that are kept, the last ones."""


def task_in(task: str) -> str:
    """A task as lessons about it are found by."""
    return task[:LONGEST]


def learned_in(state: State, cell: Cell) -> Iterator[tuple[str, str, str]]:
    """What was learned in a group that is over: the task, the lesson, and the key of the step that has said it."""
    body = cell.result.body if cell.result is not None else None
    if not isinstance(body, Grown) or LESSON not in body.tags.values():
        return
    task = task_in(str(inputs_of(state, cell.within).get("task", "")))
    marked = [child for child in body.children.values() if body.tags.get(f"s{child.position + 1}") == LESSON]
    for child in marked[-MOST:]:
        if child.result is not None and child.result.exit == "success" and (text := _text(output_of(state, child))):
            yield task, text[:LONGEST], child.key


def _text(output: Any) -> str:
    if is_mapping(output):
        found = output.get(LESSON, output.get("value"))
        return _text(found)
    return output.strip() if isinstance(output, str) else ""
