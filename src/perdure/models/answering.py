"""What a model has answered, as a step's output; and what a step gave, as the model has said it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

from perdure.core.calls import Outcome, Usage
from perdure.core.values import from_json, to_json
from perdure.models.schemas import CHOICE, Wanted
from perdure.plan.conforming import flaws
from perdure.ports import Answer, Answered, Request, Wish

Form = Literal["text", "calls", "choice", "value"]
"""What an output is like: a text, a text with calls that are asked for, a choice, or a value by a schema."""
_FENCED: Final = re.compile(r"```(?:json)?\s*\n(.*?)\n?\s*```", re.DOTALL)
_MARKS: Final = " \t\r\n\"'`*“”«».!"
"""What may stand around a word that is an answer by itself."""
_ENDED: Final = re.compile(r"[\s*_`]*(?:final )?(?:answer|choice|decision)[\s*_`]*[:=](.+)", re.IGNORECASE)
"""A last line that says what it is."""
MOST_SAID: Final = 200


def form_of(given: Mapping[str, Any]) -> Form:
    """What a call wants to be answered with."""
    if given.get("tools") is not None:
        return "calls"
    if given.get("choices"):
        return "choice"
    return "value" if given.get("returns") is not None else "text"


def outcome_of(request: Request, answer: Answer, form: Form) -> Outcome:
    """What comes of an answer; however it is, it has to be paid."""
    used = usage_of(answer)
    if answer.finish == "refused":
        return _failed("logic", f"the model refused to answer: {_short(answer.text) or 'it gave no reason'}", used)
    if answer.finish == "length":
        most = "" if request.tokens is None else f" at {request.tokens} tokens"
        return _failed("invalid", f"the answer was cut off{most}; let it have more with `tokens`", used)
    return _READ[form](request, answer, used)


def usage_of(answer: Answer) -> Usage:
    """What a call took."""
    return Usage(tokens=answer.tokens_in + answer.tokens_out, usd=answer.usd, calls=1)


def _failed(kind: str, message: str, used: Usage) -> Outcome:
    failed = Outcome.failed(kind, message)
    return Outcome(exit="failure", failure=failed.failure, usage=used)


# ------------------------------------------------------------------------------- one way of reading each form


def _as_text(_request: Request, answer: Answer, used: Usage) -> Outcome:
    return Outcome(answer.text, usage=used)


def _as_value(request: Request, answer: Answer, used: Usage) -> Outcome:
    found, wrong = read_value(answer.text, request.returns)
    if wrong:
        told = f"the answer is not what was asked for: {'; '.join(wrong)}. It was: {_short(answer.text)}"
        return _failed("invalid", told, used)
    return Outcome(found, usage=used)


def _as_choice(request: Request, answer: Answer, used: Usage) -> Outcome:
    chosen = _chosen(answer.text, request.choices)
    if chosen is None:
        told = f"the answer is none of {', '.join(request.choices)}: {_short(answer.text)}"
        return _failed("invalid", told, used)
    chances = None if answer.chances is None else dict(answer.chances)
    return Outcome({"choice": chosen, "probabilities": chances}, usage=used)


def _as_calls(request: Request, answer: Answer, used: Usage) -> Outcome:
    output: dict[str, Any] = {"text": answer.text, "calls": [_call(each) for each in answer.wishes]}
    if answer.thoughts is not None:
        output["thoughts"] = answer.thoughts
    if request.returns is not None and not answer.wishes:
        found, wrong = read_value(answer.text, request.returns)
        output |= {"flaws": wrong} if wrong else {"value": found}
    return Outcome(output, usage=used)


_READ: Final = {"text": _as_text, "value": _as_value, "choice": _as_choice, "calls": _as_calls}


def _call(wish: Wish) -> dict[str, Any]:
    """A call that is asked for. What is no object of JSON is not handed on: it says what is wrong with it."""
    named = {"tool": wish.tool, **({"id": wish.id} if wish.id else {})}
    try:
        to_json(given := _object_of(wish.arguments))
    except ValueError as error:
        told = f"the arguments are no JSON object: {error}. They were: {_short(str(wish.arguments))}"
        return {**named, "with": {}, "error": told}
    return {**named, "with": given}


def _object_of(given: Any) -> dict[str, Any]:
    """The arguments of a call. A text could not be read before: it is read again to say what is wrong with it."""
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, Any]", given))
    if isinstance(given, str):
        from_json(given)
    raise ValueError("they are another value")


def read_value(text: str, schema: Mapping[str, Any] | None) -> tuple[Any, list[str]]:
    """The JSON value in a text, and what is wrong with it. A fence around it is taken away; nothing else is mended."""
    fenced = _FENCED.search(text)
    try:
        found = from_json(fenced[1] if fenced and not text.lstrip().startswith(("{", "[")) else text)
    except ValueError as error:
        return None, [f"it is no JSON: {error}"]
    return found, flaws(found, dict(schema or {}))


def _chosen(text: str, choices: Sequence[str]) -> str | None:
    """The choice that is made. In a sentence it could also be denied, so only a word that stands alone is one."""
    whole = text.strip()
    fenced, ended = _FENCED.fullmatch(whole), _ENDED.fullmatch(whole.rpartition("\n")[2])
    said = ended[1] if ended else fenced[1] if fenced else whole
    return _alone(Wanted({}, CHOICE).unwrapped(said), choices)


def _alone(said: str, choices: Sequence[str]) -> str | None:
    """The one choice that a text is, but for the marks around it and the case of its letters."""
    for bare in (said.strip(_MARKS), said.strip(f"{_MARKS}_")):
        same = [each for each in choices if each == bare]
        alike = same or [each for each in choices if each.lower() == bare.lower()]
        if alike:
            return alike[0] if len(alike) == 1 else None
    return None


# ------------------------------------------------------------------------------- back again


def said_again(output: Any, form: Form) -> Answered:
    """What a model has said, as its conversation holds it."""
    if form == "calls" and isinstance(output, Mapping):
        given = cast("Mapping[str, Any]", output)
        wishes = tuple(Wish(each["tool"], each["with"], each.get("id", "")) for each in given.get("calls", ()))
        return Answered(str(given.get("text", "")), wishes, given.get("thoughts"))
    if form == "choice" and isinstance(output, Mapping):
        return Answered(str(cast("Mapping[str, Any]", output).get("choice")))
    return Answered(written(output))


def written(value: Any) -> str:
    """A value as a model reads it: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _short(text: str) -> str:
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}…"
