"""Wording: what the models refuse, said in our words, with what to write instead."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from perdure.plan.model import parts
from perdure.plan.model.document import FORMAT, Plan
from perdure.plan.model.meaning import meanings
from perdure.plan.model.steps import GROUP_KEYS, KIND_KEYS, STEP_TYPES, kind_of
from perdure.plan.problems import Path, Problem, did_you_mean, written
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.reading.labels import LABEL_WORDS
from perdure.plan.reading.places import at, step_path
from perdure.plan.sayings import saying

RECORDS: Final[dict[str, type[BaseModel]]] = {
    "retry": parts.Retry,
    "budget": parts.Budget,
    "estimate": parts.Estimate,
    "policy": parts.Policy,
    "files": parts.Files,
    "commands": parts.Commands,
    "network": parts.Terms,
    "tools": parts.Terms,
    "resources": parts.Terms,
    "context": parts.Context,
    "wait": parts.Wait,
    "accept": parts.Criterion,
    "relaxed": parts.Criterion,
}
CALL_TYPES: Final[dict[str, type[BaseModel]]] = {
    "tool": parts.ToolCall,
    "model": parts.ModelCall,
    "agent": parts.AgentCall,
}
QUOTED: Final = re.compile(r"'([^']+)'")


def problem_of(error: ErrorDetails, path: Path, document: Raw) -> Problem:
    """What the models refused, in our words."""
    special = _SPECIAL.get(error["type"])
    if found := special(error, path, document) if special else _by_place(error, path):
        return found
    hint = _value_hint(error, path) or _field_hint(path, document)
    return Problem("PRD1103", f"`{_name_at(path)}` {_saying(error)}", _without_key(path), hint)


def _value_hint(error: ErrorDetails, path: Path) -> str:
    """What to write instead of this very value, where that can be told."""
    given = error["input"]
    match error["type"]:
        case "tuple_type" if isinstance(given, (str, int, float)):
            return f"write [{given}]"
        case "model_type" if path[-1:] == ("retry",) and isinstance(given, int):
            return f"write {{attempts: {given}}}"
        case "literal_error":
            return did_you_mean(str(given), QUOTED.findall(error["msg"]))
        case "string_pattern_mismatch" if path[-1:] == ("tool",):
            return f"write domain.tool, as in web.{given}" if str(given).isidentifier() else "write domain.tool"
        case "string_pattern_mismatch":
            return "a name is letters, digits and _ . - without spaces, and cannot be computed"
        case _:
            return ""


def _by_place(error: ErrorDetails, path: Path) -> Problem | None:
    if path == ("perdure",):
        message = f"the plan is written in format {short(error['input'])}; this release reads format {FORMAT}"
        return Problem("PRD1005", message, path, "write `perdure: 1`, or use a newer release")
    if path[-1:] == ("id",) and error["type"].startswith("string_"):
        return Problem("PRD1106", f"{short(error['input'])} cannot be an id", path, _id_hint(error["input"]))
    if path[:1] == ("inputs",) and error["type"] == "dict_type":
        hint = f"write {{type: {error['input']}}}" if isinstance(error["input"], str) else "write {type: string}"
        return Problem("PRD1103", f"`{_name_at(path)}` must be a JSON Schema", path, hint)
    if error["type"] == "string_pattern_mismatch" and (path[-1] == "[key]" or path[-2:-1] == ("on",)):
        return Problem("PRD1103", f"{short(error['input'])} is no name", _without_key(path), _id_hint(error["input"]))
    return None


def _missing(_: ErrorDetails, path: Path, document: Raw) -> Problem:
    return Problem("PRD1102", f"`{path[-1]}` is missing", path[:-1], _field_hint(path, document))


def _empty(_: ErrorDetails, path: Path, document: Raw) -> Problem:
    return Problem("PRD1103", f"`{_name_at(path)}` must not be empty", path, _field_hint(path, document))


def _not_json(error: ErrorDetails, path: Path, _: Raw) -> Problem:
    place: Path = tuple(error.get("ctx", {}).get("place", ()))
    return Problem("PRD1008", error["msg"], (*path, *place), "write it as a text")


def _saying(error: ErrorDetails) -> str:
    given = short(error["input"])
    if error["type"] == "string_pattern_mismatch":
        return f"cannot be {given}"
    said = saying(error)
    return f"{said}, not {given}" if said.startswith("must be") else said


def short(value: Raw) -> str:
    """A value as a message can show it."""
    if is_mapping(value):
        return "a mapping"
    if is_list(value):
        return "a list"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    text = {"None": "null", "True": "true", "False": "false"}.get(text, text)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004  one line of a terminal


def _without_key(path: Path) -> Path:
    return path[:-1] if path and path[-1] == "[key]" else path


def _name_at(path: Path) -> str:
    path = _without_key(path)
    names = [n for n, segment in enumerate(path) if isinstance(segment, str)]
    return written(path[names[-1] :]) if names else "the plan"


@cache
def names_of(model: type[BaseModel]) -> list[str]:
    """The fields of a model, by the words people write."""
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_at(path: Path, document: Raw) -> type[BaseModel] | None:
    """The model that the mapping at a path is read as."""
    if not path:
        return Plan
    item = at(document, path)
    if step_path(path) == path:
        return STEP_TYPES.get(str(kind_of(item)))
    key = next((segment for segment in reversed(path) if isinstance(segment, str)), "")
    if key == "plan":
        return Plan
    if key in RECORDS:
        return RECORDS[key]
    return next((CALL_TYPES[name] for name in CALL_TYPES if is_mapping(item) and name in item), None)


def _unknown_field(_: ErrorDetails, path: Path, document: Raw) -> Problem:
    name = str(path[-1])
    model = _model_at(path[:-1], document)
    if name == "undo" and path[-2:-1] == ("undo",):
        return Problem("PRD1404", "an undo cannot have an undo", path, "leave it out; an undo that fails is reported")
    owners = [kind for kind, each in STEP_TYPES.items() if name in names_of(each)]
    if model and issubclass(model, tuple(STEP_TYPES.values())) and owners:
        kind = kind_of(at(document, path[:-1]))
        return Problem(
            "PRD1101", f"`{name}` means nothing on a {kind} step", path, f"it belongs to: {', '.join(owners)}"
        )
    if name in LABEL_WORDS:
        hint = "the label dialect is read in the steps of a whole document: here write `id`, `agent` and `on`"
        return Problem("PRD1101", f"there is no field `{name}` here", path, hint)
    hint = did_you_mean(name, names_of(model) if model else ())
    return Problem(
        "PRD1101", f"there is no field `{name}` here", path, hint or "leave it out; free data goes into `meta`"
    )


def _field_hint(path: Path, document: Raw) -> str:
    path = _without_key(path)
    while path and isinstance(path[-1], int):
        path = path[:-1]
    model = _model_at(path[:-1], document) if path else None
    if model is None:
        return ""
    found = [name for name, info in model.model_fields.items() if (info.alias or name) == path[-1]]
    return meanings(model).get(found[0], "").replace("\n", " ") if found else ""


def _id_hint(value: Raw) -> str:
    slug = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in str(value)[:60])
    if not slug.strip("_"):
        return "names are letters (a to z), digits and _, as in step_1"
    slug = f"_{slug}" if slug[0].isdigit() else slug
    return f'names are letters, digits and _, and do not begin with a digit: write "{slug}"'


def kind_hint(step: Mapping[str, Raw]) -> str:
    """What to write for a step that does not say what it does."""
    known = {name for model in STEP_TYPES.values() for name in names_of(model)}
    for key in step:
        if key not in known and (near := did_you_mean(key, (*KIND_KEYS, *GROUP_KEYS))).startswith("did you"):
            return f'"{key}": {near}'
    return "give it one of: " + ", ".join((*KIND_KEYS, *GROUP_KEYS))


_SPECIAL: Final[dict[str, Callable[[ErrorDetails, Path, Raw], Problem]]] = {
    "extra_forbidden": _unknown_field,
    "missing": _missing,
    "too_short": _empty,
    "not_json": _not_json,
}
