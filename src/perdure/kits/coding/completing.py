"""Plans that were not written as ways of working: what such a way takes and gives is added where they do not say it.

So plans of labels and agents alone, which have neither tasks nor inputs, can be carried out on a repository too.
"""

from collections.abc import Mapping
from typing import Any, Final

from perdure.plan import Plan, escaped, is_mapping

TAKEN: Final[Mapping[str, Any]] = {
    "goal": {"type": "string", "default": ""},
    "test": {"type": "array", "items": {"type": "string"}, "default": []},
    "report": {"type": "string", "default": ""},
    "seconds": {"type": "number", "default": 600},
    "before": {"default": None},
    "options": {"type": "object", "default": {}},
}
"""What a way of working takes."""
GIVEN: Final[Mapping[str, Any]] = {"summary": "${inputs.goal}", "changes": [], "rest": "${inputs.goal}"}
"""What it gives, where it does not say otherwise."""
SEEN: Final = {"from": "all", "tokens": 6000}
"""What an agent without a task is shown of the work before."""


def completed(shape: Plan) -> Plan:
    """The plan with all inputs and outputs of a way; agents that were told nothing are told the goal and their part."""
    raw = shape.canonical()
    steps = [_told(each) for each in raw["steps"]]
    inputs = {**TAKEN, **raw.get("inputs", {})}
    return Plan.model_validate({**raw, "inputs": inputs, "steps": steps, "output": _output(raw.get("output"))})


def _output(said: Any) -> Any:
    """All that is given. What follows from an expression alone is left as it is."""
    return said if said and not is_mapping(said) else {**GIVEN, **(said or {})}


def _told(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step that has a task, and so have all in its group. Items and plans within plans are their own."""
    if step["kind"] == "group":
        return {**step, "steps": [_told(each) for each in step["steps"]]}
    if _is_untold(step):
        return {"context": SEEN, **step, "task": _task(step, "Do your part for this goal")}
    chooser = step.get("decide")
    if is_mapping(chooser) and _is_untold(chooser):
        return {
            "context": SEEN,
            **step,
            "decide": {**chooser, "task": _task(step, "Choose what comes next for this goal")},
        }
    return dict(step)


def _is_untold(call: Mapping[str, Any]) -> bool:
    return "agent" in call and not call.get("task")


def _task(step: Mapping[str, Any], words: str) -> str:
    """A title is no expression, and does not become one here."""
    part = escaped(step.get("title") or step["id"].replace("_", " "))
    return f"{words}: ${{inputs.goal}}\n\nYour part is called: {part}"
