"""From plain data to a plan, with every mistake of form said at once.

A broken field is noted and left out, a broken step is noted and replaced by a hole, and reading
goes on, so that one typo does not hide the next.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from perdure.plan.flow import STANDARD_EXITS
from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import GROUP_KEYS, STEP_TYPES, kinds_in
from perdure.plan.problems import MOST, Path, Problem, did_you_mean
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.reading.places import at, path_of, step_path
from perdure.plan.reading.wording import kind_hint, problem_of, short

LEADING_WORD: Final = re.compile(r"[A-Za-z0-9_]*")
ROUNDS: Final = 6
"""Leaving out one thing can show another; more rounds than this never were needed."""

FOLLOW_ON: Final = {
    "checkpoints": ("PRD1406",),
    "choices": ("PRD1308",),
    "deadline": ("PRD1411",),
    "form": ("PRD1411",),
    "id": ("PRD1209",),
    "inputs": ("PRD1205", "PRD1413"),
    "map": ("PRD1208",),
    "max_visits": ("PRD1309",),
    "needs": ("PRD1204",),
    "on": ("PRD1308", "PRD1309"),
    "verdicts": ("PRD1310",),
    "wait": ("PRD1310",),
    "with": ("PRD1205", "PRD1413"),
}
"""What a check would say only because a broken field was left out."""


@dataclass
class Shape:
    """What came out: a plan if one could be made, and what had to be left out for it."""

    plan: Plan | None = None
    problems: list[Problem] = field(default_factory=list[Problem])
    holes: set[Path] = field(default_factory=set[Path])
    """Steps that stand for broken ones; what is said about them later is no news."""
    removed: set[Path] = field(default_factory=set[Path])
    """Values that were taken out; that they are missing now is no news either."""
    no_news: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Codes that would only follow from what was left out, and what their message holds then."""

    def say(self, problem: Problem) -> None:
        """Note a problem, once."""
        if len(self.problems) <= MOST:
            self.problems.append(problem)

    def is_news(self, problem: Problem) -> bool:
        """Whether a problem found by a check says something that was not said yet."""
        follows = any(problem.code == code and text in problem.message for code, text in self.no_news)
        return not follows and not self.in_hole(problem.path)

    def in_hole(self, path: Path) -> bool:
        """Whether a place is inside a step that was replaced."""
        return any(path[:length] in self.holes for length in range(len(path) + 1))


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
                result.say(problem)
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
        return Problem("PRD1104", "the step does not say what it does", path, kind_hint(step))
    if len(found) > 1:
        both = " and ".join(f"`{key}`" for key in found)
        return Problem("PRD1105", f"the step has {both}: it can be only one kind", path, "make two steps of it")
    return None


def _told_kind_problem(step: Mapping[str, Raw], path: Path) -> Problem | None:
    kind, found = step["kind"], kinds_in(step)
    if not isinstance(kind, str) or kind not in STEP_TYPES:
        hint = did_you_mean(str(kind), STEP_TYPES) or "write one of: " + ", ".join(STEP_TYPES)
        return Problem("PRD1104", f"there is no kind {short(kind)}", (*path, "kind"), hint)
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


def _look_at_needs(steps: list[Raw], path: Path, document: Raw, result: Shape) -> None:
    """In a list without a mode, `needs` on one child must be answered by the others."""
    holder = at(document, path[:-1])
    if path[-1] == "parallel" or (is_mapping(holder) and "mode" in holder):
        return
    if not any(is_mapping(step) and "needs" in step for step in steps):
        return
    for position, step in enumerate(steps[1:], 1):
        if is_mapping(step) and "needs" not in step:
            hint = "write `needs: []` if it needs nothing, or give the group `mode: graph`"
            message = f'"{step.get("id", position)}" does not say what it needs, though its siblings do'
            result.say(Problem("PRD1303", message, (*path, position), hint))


# ------------------------------------------------------------------------------- what the models refuse


def _leave_out(document: Raw, errors: list[ErrorDetails], result: Shape) -> bool:
    """Note what was refused and take it out; false when nothing could be taken out."""
    placed = [(each, path_of(each["loc"], document)) for each in errors]
    placed = [(each, path) for each, path in placed if not _only_emptied(each, path, placed)]
    for each, path in placed:
        told = each["type"].startswith("union_tag") or path in result.removed or result.in_hole(path)
        if not told:
            result.say(problem_of(each, path, document))
            result.no_news.update(_follow_on(path, document))
    return sum(_remove(document, path, result) for _, path in placed) > 0


def _only_emptied(error: ErrorDetails, path: Path, placed: list[tuple[ErrorDetails, Path]]) -> bool:
    """Whether a list is empty only because what was in it was refused."""
    return error["type"] == "too_short" and any(other[: len(path)] == path for _, other in placed if other != path)


def _follow_on(path: Path, document: Raw) -> Iterator[tuple[str, str]]:
    step = step_path(path) or ()
    name = str(path[len(step)]) if len(path) > len(step) else "id"
    yield from ((code, "") for code in FOLLOW_ON.get(name, ()))
    broken = at(document, path) if name == "id" else None
    if isinstance(broken, str):  # `steps.fetch-it` reads as `steps.fetch` minus `it`
        yield "PRD1202", f'"{LEADING_WORD.match(broken)[0]}"'  # pyright: ignore[reportOptionalSubscript]  it matches anything


def _remove(document: Raw, path: Path, result: Shape) -> bool:
    """Take out the value at a path; where it was missing, or is gone already, cut a hole in the step."""
    around = path[:-1]
    holder = at(document, around)
    step = step_path(path)
    result.removed.update(path[:length] for length in range(len(step or ()) + 1, len(path) + 1))
    if isinstance(holder, dict) and path[-1] in holder and path[-1] != "id" and not _holds_steps(path, document):
        del holder[path[-1]]
        return True
    if step and is_list(steps := at(document, step[:-1])):
        return _cut(cast("list[Raw]", steps), int(step[-1]), step, result, keep=path == (*step, "id"))
    return False


def _holds_steps(path: Path, document: Raw) -> bool:
    return path[-1] in GROUP_KEYS and is_list(at(document, path))


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
    result.no_news.update({("PRD1407", f'"{fresh}"'), ("PRD1408", f'"{fresh}"')})  # it may have been a checkpoint
    return True


def _kept(old: Mapping[str, Raw]) -> dict[str, Raw]:
    """What a hole keeps of the step it stands for: its place in the order, and the steps inside it."""
    kept: dict[str, Raw] = {}
    if is_mapping(on := old.get("on")):
        kept["on"] = {exit_: target for exit_, target in on.items() if _is_word(exit_) and _is_word(target)}
        kept["verdicts"] = [exit_ for exit_ in kept["on"] if exit_ not in STANDARD_EXITS]
    if is_list(needs := old.get("needs")):
        kept["needs"] = [need for need in needs if _is_word(need)]
    inside = next((key for key in GROUP_KEYS if is_list(old.get(key))), None)
    return {**kept, inside: old[inside]} if inside else {**kept, "agent": "hole"}


def _is_word(value: Raw) -> bool:
    return isinstance(value, str) and value.isidentifier() and value.isascii()
