"""What is answered: how it is to be, how it is heard, and the end that comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.agents.strategies.words import ref
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, View
from perdure.plan.raw import is_list, is_mapping

FEW: Final = 5
LONGEST: Final = 200


def schema_of(view: View) -> Mapping[str, Any] | None:
    """JSON Schema of the answer; None: a text."""
    if not view.verdicts:
        return view.returns
    properties: dict[str, Any] = {"verdict": {"enum": _words(view)}, "answer": view.returns or {}}
    schema = {"type": "object", "required": ["verdict"], "properties": properties}
    if view.returns is None:
        return schema
    went_well = {"properties": {"verdict": {"const": "success"}}}
    return {**schema, "if": went_well, "then": {"required": ["answer"]}}


def wanted(view: View) -> str:
    """How an answer is to be given, for a model."""
    if view.verdicts:
        return (
            f'Answer with JSON alone: {{"verdict": one of {", ".join(_words(view))}, "answer": what there is to say}}.'
        )
    return "" if view.returns is None else "Answer with JSON alone, by the schema you are given."


def _words(view: View) -> list[str]:
    return [*view.verdicts, "success"]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model has answered."""

    child: Child
    """The step that has asked."""
    path: str = ""
    """Where the answer is found."""
    value: Any = None
    flaws: Sequence[str] = ()
    """What is wrong with it; empty: nothing."""
    failure: Failure | None = None
    """Why there is none."""


def hear(child: Child, returns: Mapping[str, Any] | None) -> Heard:
    """Read an answer: a text, or a value where a schema was given."""
    if child.exit != "success":
        failure = child.failure or Failure("cancelled", "it was not asked")
        return Heard(child, flaws=(failure.message,), failure=failure)
    output, word = child.output, "text" if returns is None else "value"
    if word in output:
        return Heard(child, path_to(child.id, returns), output[word])
    flaws = output.get("flaws") or ("it asks for calls, and there are none to be made",)
    return Heard(child, flaws=[each[:LONGEST] for each in flaws[:FEW]])


def flaws_of(child: Child) -> Sequence[str]:
    """What is wrong with an answer, or with what was said of it in a trial, as it was read."""
    if child.exit != "success":
        return hear(child, None).flaws
    read: Any = child.output
    judged: Any = read.get("judge", read) if is_mapping(read) else None
    found: Any = judged.get("flaws") if is_mapping(judged) else None
    return [str(each)[:LONGEST] for each in found[:FEW]] if is_list(found) else []


def path_to(id_: str, returns: Mapping[str, Any] | None) -> str:
    """Where the answer of a step is found."""
    return f"steps.{id_}.output.{'text' if returns is None else 'value'}"


def passed_on(work: Child, keep: Sequence[str] | None = None) -> Finish:
    """The end that the work of somebody else has come to, as one's own."""
    if work.failure is not None or work.exit in {"failure", "cancelled"}:
        return Finish("failure", failure=work.failure or Failure("cancelled", "whoever was at it was stopped"))
    return Finish(work.exit, ref(f"steps.{work.id}.output"), keep)


def finished(view: View, heard: Heard, keep: Sequence[str] | None = None) -> Finish:
    """The end, with an answer that fits."""
    if not view.verdicts:
        return Finish(output=ref(heard.path), keep=keep)
    output = ref(f"{heard.path}.answer") if "answer" in heard.value else None
    return Finish(heard.value["verdict"], output, keep)
