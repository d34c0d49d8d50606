"""Recalling: what earlier runs have learned about the same task, looked up by a step that may as well find nothing."""

from typing import Any, Final

from perdure.agents.strategies.words import ref
from perdure.core.growth import Child, View
from perdure.core.ladder import UNASKED
from perdure.core.lessons import LESSON, task_in
from perdure.plan.raw import is_list, is_mapping

SEARCH: Final = "memory.search"
"""The tool that remembers."""
LOOKED_AT: Final = 50
"""Memories that are looked at; those about other tasks are left."""
PATIENCE: Final = 10
"""Seconds that a memory may take. It is of use, and nobody waits for it."""


def recall_step() -> dict[str, Any]:
    """A step that looks for lessons about the task; its failure is nobody's."""
    about = {"query": "${inputs.task}", "kinds": [LESSON], "limit": LOOKED_AT}
    return {"tool": SEARCH, "with": about, "timeout": PATIENCE, "retry": {"attempts": 1}, "recovery": UNASKED}


def recalled(view: View, child: Child, most: int) -> list[str]:
    """Where the lessons about the same task are found, the best first, each once."""
    found: Any = child.output.get("found") if child.exit == "success" and is_mapping(child.output) else None
    places: dict[str, str] = {}
    for n, each in enumerate(found if is_list(found) else ()):
        if is_mapping(each) and each.get("about") == task_in(view.task):
            places.setdefault(str(each.get("text")), f"steps.{child.id}.output.found[{n}].text")
    return list(places.values())[:most]


def told(places: list[str]) -> str:
    """The same as lines of a text of a plan."""
    return "".join(f"\n- {ref(each)}" for each in places)
