"""The form that an answer is asked in: providers give objects, and a step may want any value."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from perdure.core.values import from_json
from perdure.ports import Request

VALUE: Final = "value"
CHOICE: Final = "choice"
_SHARED: Final = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A schema of an object, and the word in it under which the value stands; no word: it is the object."""

    schema: Mapping[str, Any]
    word: str = ""

    def unwrapped(self, text: str) -> str:
        """What was wanted, taken out of the object. A text that is no such object stays as it is."""
        if not self.word:
            return text
        try:
            found: Any = from_json(text)
        except ValueError:
            return text
        if not isinstance(found, dict) or self.word not in found:
            return text
        value: Any = cast("dict[str, Any]", found)[self.word]
        return value if self.word == CHOICE and isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_whole(text: str) -> bool:
    """Whether a text is a whole value: what was cut off after it were blanks."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def wanted_of(request: Request) -> Wanted | None:
    """The form of an answer; None: a text. Where tools are offered an answer may be a call, so no form is asked for."""
    if request.offers:
        return None
    if request.choices:
        return Wanted(_object_of({CHOICE: {"type": "string", "enum": list(request.choices)}}), CHOICE)
    if request.returns is None:
        return None
    if request.returns.get("type") == "object":
        return Wanted(request.returns)
    own = {word: each for word, each in request.returns.items() if word not in _SHARED}
    shared = {word: each for word, each in request.returns.items() if word in _SHARED}
    return Wanted({**_object_of({VALUE: own}), **shared}, VALUE)


def _object_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def told_of(request: Request) -> str:
    """What a model is told of the form besides, where it would not see it otherwise."""
    if request.offers and request.returns is not None:
        schema = json.dumps(request.returns, ensure_ascii=False)
        return f"When you have the answer, give it as JSON alone that meets this JSON Schema: {schema}"
    if request.choices and not request.offers:
        return f"Answer with one of these words: {', '.join(request.choices)}"
    return ""
