"""From plain data to a plan, with every mistake of form said at once.

A broken field is noted and left out, a broken step is noted and replaced by a hole, and reading
goes on, so that one typo does not hide the next.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from perdure.plan.flow import STANDARD_EXITS
from perdure.plan.limits import Limits
from perdure.plan.model import parts
from perdure.plan.model.document import FORMAT, Plan
from perdure.plan.model.steps import GROUP_KEYS, KIND_KEYS, STEP_TYPES, kind_of, kinds_in
from perdure.plan.problems import Path, Problem, did_you_mean, written
from perdure.plan.raw import Raw, is_list, is_mapping

ROUNDS: Final = 6
"""Leaving out one thing can show another; more rounds than this never were needed."""

RECORDS: Final[dict[str, type[BaseModel]]] = {
    "retry": parts.Retry,
    "budget": parts.Budget,
    "estimate": parts.Estimate,
    "policy": parts.Policy,
    "files": parts.Files,
    "commands": parts.Commands,
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
TAGGED: Final = frozenset({"undo", "simpler", "decide", "plan", "join", "fail", "from"})
TAGGED_LISTS: Final = frozenset({"steps", "alternates"})
TAGS: Final = frozenset({*STEP_TYPES, "text", "other", "word", "ids", "quorum", "tolerate"})
FOLLOW_ON: Final = {
    "id": ("PRD1202", "PRD1209", "PRD1301", "PRD1305"),
    "inputs": ("PRD1205",),
    "checkpoints": ("PRD1406",),
    "max_visits": ("PRD1309",),
    "verdicts": ("PRD1310",),
    "choices": ("PRD1308",),
    "needs": ("PRD1204",),
    "on": ("PRD1308", "PRD1309"),
}
"""What a check would say only because a broken field was left out."""

SAYINGS: Final = {
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
}


@dataclass
class Shape:
    """What came out: a plan if one could be made, and what had to be left out for it."""

    plan: Plan | None = None
    problems: list[Problem] = field(default_factory=list[Problem])
    holes: set[Path] = field(default_factory=set[Path])
    """Steps that stand for broken ones; what is said about them later is no news."""
    no_news: set[str] = field(default_factory=set[str])
    """Codes that would only follow from what was left out."""

    def is_news(self, problem: Problem) -> bool:
        """Whether a problem found by a check says something that was not said yet."""
        inside = any(problem.path[: len(hole)] == hole for hole in self.holes)
        return not inside and problem.code not in self.no_news


def shape(document: Raw, limits: Limits) -> Shape:
    """Make a plan of a document in the current format."""
    result = Shape()
    if refused := _too_large(document, limits):
        result.problems.append(refused)
        return result
    document = _copy(document)
    _look_at_steps(document, result)
    for _ in range(ROUNDS):
        try:
            result.plan = Plan.model_validate(document)
        except ValidationError as error:
            if not _leave_out(document, error.errors(include_url=False), result):
                break
        else:
            break
    return result


# ------------------------------------------------------------------------------- before the models


def _lists(item: Mapping[str, Raw], path: Path) -> Iterator[tuple[Raw, Path]]:
    for key in GROUP_KEYS:
        if key in item:
            yield item[key], (*path, key)
    if is_mapping(inline := item.get("plan")):
        yield from _lists(inline, (*path, "plan"))


def _each_step(document: Raw) -> Iterator[tuple[Raw, Path, int]]:
    """Every step with its path and depth; a step may be replaced while it is looked at."""
    stack = [(steps, path, 1) for steps, path in _lists(document, ())] if is_mapping(document) else []
    while stack:
        steps, path, depth = stack.pop()
        for position, step in enumerate(steps if is_list(steps) else ()):
            here = (*path, position)
            yield step, here, depth
            if is_mapping(step):
                stack.extend((inner, place, depth + 1) for inner, place in _lists(step, here))


def _too_large(document: Raw, limits: Limits) -> Problem | None:
    for count, (_, path, depth) in enumerate(_each_step(document), 1):
        if count > limits.steps:
            hint = "split it into sub-plans, or raise the limit"
            return Problem("PRD1004", f"the plan has more than {limits.steps:,} steps", path, hint)
        if depth > limits.depth:
            hint = "move the inner steps into a sub-plan, or raise the limit"
            return Problem("PRD1004", f"groups are nested more than {limits.depth} deep", path, hint)
    return None


def _copy(document: Raw) -> Raw:
    """The steps copied, so that holes can be cut; the values in them shared."""
    if is_list(document):
        return [_copy(item) for item in document]
    if not is_mapping(document):
        return document
    inner = (*GROUP_KEYS, "plan")
    return {key: _copy(value) if key in inner else value for key, value in document.items()}


def _look_at_steps(document: Raw, result: Shape) -> None:
    if is_mapping(document) and (problem := _group_problem(document, (), "the plan")):
        result.problems.append(problem)
        cast("dict[str, Raw]", document).pop("parallel" if "steps" in document else "mode")
    for steps, path in list(_all_lists(document)):
        _look_at_needs(steps, path, document, result)
        for position, step in enumerate(steps):
            if problem := _kind_problem(step, (*path, position)):
                result.problems.append(problem)
                _cut(steps, position, (*path, position), result)


def _all_lists(document: Raw) -> Iterator[tuple[list[Raw], Path]]:
    stack = list(_lists(document, ())) if is_mapping(document) else []
    while stack:
        steps, path = stack.pop()
        if isinstance(steps, list):
            known = cast("list[Raw]", steps)
            yield known, path
            for position, step in enumerate(known):
                if is_mapping(step):
                    stack.extend(_lists(step, (*path, position)))


def _kind_problem(step: Raw, path: Path) -> Problem | None:
    if not is_mapping(step):
        return Problem("PRD1103", "a step must be a mapping", path, "write it as {id: …, tool: …}")
    if problem := _group_problem(step, path, "a group"):
        return problem
    return _told_kind_problem(step, path) if "kind" in step else _untold_kind_problem(step, path)


def _untold_kind_problem(step: Mapping[str, Raw], path: Path) -> Problem | None:
    found = kinds_in(step)
    if not found:
        return Problem("PRD1104", "the step does not say what it does", path, _kind_hint(step))
    if len(found) > 1:
        both = " and ".join(f"`{key}`" for key in found)
        return Problem("PRD1105", f"the step has {both}: it can be only one kind", path, "make two steps of it")
    return None


def _told_kind_problem(step: Mapping[str, Raw], path: Path) -> Problem | None:
    kind, found = step["kind"], kinds_in(step)
    if not isinstance(kind, str) or kind not in STEP_TYPES:
        hint = did_you_mean(str(kind), STEP_TYPES) or "write one of: " + ", ".join(STEP_TYPES)
        return Problem("PRD1104", f"there is no kind {_short(kind)}", (*path, "kind"), hint)
    if found and kind not in found:
        message = f"`kind` says {kind}, but the step has `{found[0]}`"
        return Problem("PRD1105", message, (*path, "kind"), "leave `kind` out: the key says it already")
    return None


def _group_problem(item: Mapping[str, Raw], path: Path, name: str) -> Problem | None:
    if "parallel" not in item:
        return None
    if "steps" in item:
        return Problem("PRD1105", f"{name} has both `steps` and `parallel`", path, "put one group inside the other")
    if item.get("mode", "graph") != "graph":
        hint = "write `steps:` for one after another, `parallel:` for all at once"
        return Problem("PRD1105", f"{name} has `parallel`, but its mode is {item['mode']}", (*path, "mode"), hint)
    return None


def _kind_hint(step: Mapping[str, Raw]) -> str:
    known = {name for model in STEP_TYPES.values() for name in _names(model)}
    for key in step:
        if key not in known and (near := did_you_mean(key, (*KIND_KEYS, *GROUP_KEYS))).startswith("did you"):
            return f'"{key}": {near}'
    return "give it one of: " + ", ".join((*KIND_KEYS, *GROUP_KEYS))


def _look_at_needs(steps: list[Raw], path: Path, document: Raw, result: Shape) -> None:
    """In a list without a mode, `needs` on one child must be answered by the others."""
    holder = _at(document, path[:-1])
    if path[-1] == "parallel" or (is_mapping(holder) and "mode" in holder):
        return
    if not any(is_mapping(step) and "needs" in step for step in steps):
        return
    for position, step in enumerate(steps[1:], 1):
        if is_mapping(step) and "needs" not in step:
            hint = "write `needs: []` if it needs nothing, or give the group `mode: graph`"
            message = f'"{step.get("id", position)}" does not say what it needs, though its siblings do'
            result.problems.append(Problem("PRD1303", message, (*path, position), hint))


def _at(document: Raw, path: Path) -> Raw:
    for segment in path:
        if (is_mapping(document) and segment in document) or (is_list(document) and isinstance(segment, int)):
            document = cast("Any", document)[segment]
        else:
            return None
    return document


# ------------------------------------------------------------------------------- what the models refuse


def _leave_out(document: Raw, errors: list[ErrorDetails], result: Shape) -> bool:
    """Note what was refused and take it out; false when nothing could be taken out."""
    placed = [(each, path_of(each["loc"], document)) for each in errors]
    paths = [path for each, path in placed if not _only_emptied(each, path, placed)]
    for each, path in placed:
        known = each["type"].startswith("union_tag") or any(path[: len(hole)] == hole for hole in result.holes)
        if path in paths and not known:  # a kind that is not told was told of already
            result.problems.append(_problem(each, path, document))
            result.no_news.update(_follow_on(path))
    return sum(_remove(document, path, result) for path in paths) > 0


def _only_emptied(error: ErrorDetails, path: Path, placed: list[tuple[ErrorDetails, Path]]) -> bool:
    """Whether a list is empty only because what was in it was refused."""
    return error["type"] == "too_short" and any(other[: len(path)] == path for _, other in placed if other != path)


def _follow_on(path: Path) -> Iterator[str]:
    step = step_path(path) or ()
    yield from FOLLOW_ON.get(str(path[len(step)]) if len(path) > len(step) else "id", ())


def path_of(loc: tuple[int | str, ...], document: Raw) -> Path:
    """A place in the models as a place in the document: without tags, with the words the document uses."""
    path: Path = ()
    item: Raw = document
    tagged = False
    for segment in loc:
        if tagged and segment in TAGS and not isinstance(segment, int):
            tagged = segment == "other"  # a call has a tag of its own
            continue
        word = "parallel" if segment == "steps" and is_mapping(item) and "parallel" in item else segment
        path = (*path, word)
        item = _at(item, (word,))
        listed = isinstance(segment, int) and len(path) > 1 and path[-2] in TAGGED_LISTS | {"parallel"}
        tagged = listed or segment in TAGGED
    return path


def _remove(document: Raw, path: Path, result: Shape) -> bool:
    """Take out the value at a path; where it was missing, or is gone already, cut a hole in the step."""
    around = path[:-1]
    holder = _at(document, around)
    if isinstance(holder, dict) and path[-1] in holder and path[-1] != "id" and not _holds_steps(path, document):
        del holder[path[-1]]
        return True
    step = step_path(path)
    if step and is_list(steps := _at(document, step[:-1])):
        return _cut(cast("list[Raw]", steps), int(step[-1]), step, result, keep=path == (*step, "id"))
    return False


def _holds_steps(path: Path, document: Raw) -> bool:
    return path[-1] in GROUP_KEYS and is_list(_at(document, path))


def step_path(path: Path) -> Path | None:
    """The path of the innermost step around a place."""
    for end in range(len(path), 0, -1):
        if isinstance(path[end - 1], int) and end > 1 and path[end - 2] in GROUP_KEYS:
            return path[:end]
    return None


def _cut(steps: list[Raw], position: int, path: Path, result: Shape, *, keep: bool = False) -> bool:
    """Put a hole in the place of a broken step; where only its id is broken, give it another one."""
    if path in result.holes:
        return False
    old: Mapping[str, Raw] = steps[position] if is_mapping(steps[position]) else {}
    name = old.get("id")
    usable = isinstance(name, str) and name.isidentifier() and name.isascii()
    fresh = name if usable else "_" + "_".join(map(str, path))
    if keep:
        steps[position] = {**old, "id": fresh}
        return not usable
    steps[position] = {"id": fresh, **_kept(old)}
    result.holes.add(path)
    return True


def _kept(old: Mapping[str, Raw]) -> dict[str, Raw]:
    """What a hole keeps of the step it stands for: its place in the order, and the steps inside it."""
    kept: dict[str, Raw] = {}
    if is_mapping(on := old.get("on")):
        words = {exit_: target for exit_, target in on.items() if _is_word(exit_) and _is_word(target)}
        kept["on"] = {exit_: target for exit_, target in words.items() if exit_ in STANDARD_EXITS}
        kept["verdicts"] = [exit_ for exit_ in words if exit_ not in STANDARD_EXITS]
        kept["on"] |= {exit_: words[exit_] for exit_ in kept["verdicts"]}
    if is_list(needs := old.get("needs")):
        kept["needs"] = [need for need in needs if _is_word(need)]
    if is_list(steps := old.get("steps")):
        return {**kept, "steps": steps}
    return {**kept, "agent": "hole"}


def _is_word(value: Raw) -> bool:
    return isinstance(value, str) and value.isidentifier() and value.isascii()


# ------------------------------------------------------------------------------- what is said


def _problem(error: ErrorDetails, path: Path, document: Raw) -> Problem:
    """What the models refused, in our words."""
    special = _SPECIAL.get(error["type"])
    if found := special(error, path, document) if special else _by_place(error, path):
        return found
    return Problem("PRD1103", f"`{_name_at(path)}` {_saying(error)}", _without_key(path), _field_hint(path, document))


def _by_place(error: ErrorDetails, path: Path) -> Problem | None:
    if path == ("perdure",):
        message = f"the plan is written in format {_short(error['input'])}; this release reads format {FORMAT}"
        return Problem("PRD1005", message, path, "write `perdure: 1`, or use a newer release")
    if path[-1:] == ("id",) and error["type"].startswith("string_"):
        return Problem("PRD1106", f"{_short(error['input'])} cannot be an id", path, _id_hint(error["input"]))
    if path[:1] == ("inputs",) and error["type"] == "dict_type":
        hint = f"write {{type: {error['input']}}}" if isinstance(error["input"], str) else "write {type: string}"
        return Problem("PRD1103", f"`{_name_at(path)}` must be a JSON Schema", path, hint)
    if error["type"] == "string_pattern_mismatch" and (path[-1] == "[key]" or path[-2:-1] == ("on",)):
        return Problem("PRD1103", f"{_short(error['input'])} is no name", _without_key(path), _id_hint(error["input"]))
    return None


def _missing(_: ErrorDetails, path: Path, document: Raw) -> Problem:
    return Problem("PRD1102", f"`{path[-1]}` is missing", path[:-1], _field_hint(path, document))


def _empty(_: ErrorDetails, path: Path, document: Raw) -> Problem:
    return Problem("PRD1103", f"`{_name_at(path)}` must not be empty", path, _field_hint(path, document))


def _not_json(error: ErrorDetails, path: Path, _: Raw) -> Problem:
    place: Path = tuple(error.get("ctx", {}).get("place", ()))
    return Problem("PRD1008", error["msg"], (*path, *place), "write it as a text")


def _saying(error: ErrorDetails) -> str:
    kind, given = error["type"], _short(error["input"])
    if kind in SAYINGS:
        return f"{SAYINGS[kind]}, not {given}"
    if kind == "string_pattern_mismatch":
        return f"cannot be {given}"
    if "Input should be" in error["msg"]:
        return f"{error['msg'].replace('Input should be', 'must be')}, not {given}"
    return f"is wrong: {error['msg']}"


def _short(value: Raw) -> str:
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


def _names(model: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_at(path: Path, document: Raw) -> type[BaseModel] | None:
    """The model that the mapping at a path is read as."""
    if not path:
        return Plan
    item = _at(document, path)
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
    owners = [kind for kind, each in STEP_TYPES.items() if name in _names(each)]
    if model and issubclass(model, tuple(STEP_TYPES.values())) and owners:
        kind = kind_of(_at(document, path[:-1]))
        return Problem(
            "PRD1101", f"`{name}` means nothing on a {kind} step", path, f"it belongs to: {', '.join(owners)}"
        )
    hint = did_you_mean(name, _names(model) if model else ())
    return Problem(
        "PRD1101", f"there is no field `{name}` here", path, hint or "leave it out; free data goes into `meta`"
    )


def _field_hint(path: Path, document: Raw) -> str:
    path = _without_key(path)
    while path and isinstance(path[-1], int):
        path = path[:-1]
    model = _model_at(path[:-1], document) if path else None
    found = [info for name, info in (model.model_fields if model else {}).items() if (info.alias or name) == path[-1]]
    return (found[0].description or "").replace("\n", " ") if found else ""


def _id_hint(value: Raw) -> str:
    slug = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in str(value)[:60])
    slug = f"_{slug}" if not slug or slug[0].isdigit() else slug
    return f'names are letters, digits and _, and do not begin with a digit: write "{slug}"'


_SPECIAL: Final[dict[str, Callable[[ErrorDetails, Path, Raw], Problem]]] = {
    "extra_forbidden": _unknown_field,
    "missing": _missing,
    "too_short": _empty,
    "not_json": _not_json,
}
