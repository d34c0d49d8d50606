"""How strategies finish: with what the step wants, or with its verdict and what there is to say."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from perdure.core.growth import Finish, View

FEW: Final = 5
LONGEST: Final = 200


def schema_of(view: View) -> Mapping[str, Any] | None:
    """JSON Schema of the answer; None: a text."""
    if not view.verdicts:
        return view.returns
    properties: dict[str, Any] = {"verdict": {"enum": _words(view)}, "answer": view.returns or {}}
    return {"type": "object", "required": ["verdict"], "properties": properties}


def wanted(view: View) -> str:
    """How an answer is to be given, for a model."""
    if view.verdicts:
        return (
            f'Answer with JSON alone: {{"verdict": one of {", ".join(_words(view))}, "answer": what there is to say}}.'
        )
    return "" if view.returns is None else "Answer with JSON alone, by the schema you are given."


def _words(view: View) -> list[str]:
    return [*view.verdicts, "success"]


def finished(view: View, path: str, value: Any) -> Finish:
    """The end, with a value that fits the schema and stands at a path."""
    if not view.verdicts:
        return Finish(output=f"${{{path}}}")
    return Finish(value["verdict"], f"${{{path}.answer}}" if "answer" in value else None)


def few(flaws: Sequence[str]) -> str:
    """The first of what is wrong, in a line."""
    return "; ".join(each[:LONGEST] for each in flaws[:FEW])
