"""Which way of writing a document uses, and the same document in the current format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from perdure.plan.problems import Path, Problem
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.reading import labels, numbered

NEEDS_WORDS: Final = ("depends_on", "dependencies")


@dataclass
class Translation:
    """A document in the current format, and what became of the older one."""

    document: Raw
    problems: list[Problem] = field(default_factory=list[Problem])
    origins: dict[str, Path] = field(default_factory=dict[str, Path])
    """Where a step came from, by its id, where that is not where it stands now."""
    dialect: str = "current"


def translate(raw: Raw) -> Translation:
    """Read an older dialect into the current format; leave a current document as it is."""
    if numbered.speaks_numbers(raw):
        return _numbered(raw)
    if is_list(raw):
        return _labels({"steps": list(raw)}, ())
    if is_mapping(raw):
        return _labels({key: value for key, value in raw.items() if key != "$schema"}, ("steps",))
    what = "empty" if raw is None else f"a {_kind_name(raw)}"
    hint = "a plan is a mapping with `steps`, or a list of steps"
    return Translation(None, [Problem("PRD1009", f"the document is {what}, not a plan", (), hint)])


def _kind_name(raw: Raw) -> str:
    return "truth value" if isinstance(raw, bool) else "number" if isinstance(raw, (int, float)) else "text"


def _numbered(raw: Raw) -> Translation:
    steps = raw["steps"] if is_mapping(raw) else raw
    if labels.speaks_labels(steps):
        hint = "write all steps with `id` and `needs`, or all with numbers"
        return Translation(None, [Problem("PRD1603", "numbered steps and label steps are mixed", ("steps",), hint)])
    document, problems = numbered.translate(raw)
    origins: dict[str, Path] = {}
    prefix = ("steps",) if is_mapping(raw) else ()
    for position, step in enumerate(_children(document or {})):
        origins[step["id"]] = (*prefix, position)
    return Translation(document, problems, origins, "numbered")


def _labels(document: dict[str, Raw], prefix: Path) -> Translation:
    result = Translation(document)
    steps = document.get("steps")
    if is_list(steps) and labels.speaks_labels(steps):
        found = labels.translate(steps, prefix)
        result = Translation({**document, "steps": found.steps}, found.problems, found.origins, "labels")
    result.document = _with_needs(result)
    return result


def _with_needs(result: Translation) -> Raw:
    """`depends_on` and `dependencies` are `needs`."""
    if not _any_step(result.document, lambda step: any(word in step for word in NEEDS_WORDS)):
        return result.document
    result.dialect = "needs" if result.dialect == "current" else result.dialect
    return _rename(result.document, (), result)


def _any_step(document: Mapping[str, Raw], holds: Callable[[Mapping[str, Raw]], bool]) -> bool:
    stack: list[Raw] = [document]
    while stack:
        item = stack.pop()
        if is_mapping(item):
            if holds(item):
                return True
            stack.extend(item[key] for key in ("steps", "parallel", "plan") if key in item)
        elif is_list(item):
            stack.extend(item)
    return False


def _rename(item: Raw, path: Path, result: Translation) -> Raw:
    if is_list(item):
        return [_rename(each, (*path, n), result) for n, each in enumerate(item)]
    if not is_mapping(item):
        return item
    found: dict[str, Raw] = {}
    for key, value in item.items():
        if key in ("steps", "parallel", "plan"):
            found[key] = _rename(value, (*path, key), result)
        elif key in NEEDS_WORDS:
            if "needs" in item:
                hint = "keep `needs`"
                result.problems.append(Problem("PRD1603", f"`{key}` stands beside `needs`", (*path, key), hint))
            found["needs"] = value if is_list(value) else [value] if isinstance(value, str) else value
        else:
            found[key] = value
    if any(is_mapping(s) and any(w in s for w in NEEDS_WORDS) for s in _children(item)) and "steps" in found:
        found.setdefault("mode", "graph")  # here a step that depends on nothing simply leaves the word out
    return found


def _children(item: Mapping[str, Raw]) -> list[Raw] | tuple[Raw, ...]:
    steps = item.get("steps")
    return steps if is_list(steps) else ()
