"""Sketches: plans as models write them best, short and flat; and how they become plans.

A sketch is a list of steps with a tool, its arguments and its needs. What it leaves out follows: a step needs those
whose results it names, a lookup is followed by a checkpoint, and everything is checked as any plan is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.plan.expr import ExpressionError, template, texts_in
from perdure.plan.index import Index
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import ID_PATTERN
from perdure.plan.problems import Problem
from perdure.plan.reading import read_data
from perdure.plan.toolbox import Toolbox
from perdure.plan.uses import secrets_in
from perdure.tools import AnyTool

ASK: Final = "ask.person"
THINK: Final = "model.think"
NEW: Final = "_new"
"""What the steps of a plan are called together, where others come before."""
BESIDE: Final = ("planning.", "agents.")
"""What the names of tools begin with that are about plans and agents: a plan that is made does not call them."""
FOUND: Final = "found"
"""The checkpoint after what had to be looked up, unless a step is called so."""
Step = Mapping[str, Any]


def able_of(names: Iterable[Any], tools: Mapping[str, AnyTool]) -> list[AnyTool]:
    """The tools that a plan may call, of these names: those that there are, but for what plans or gives out work."""
    known = (tools[each] for each in names if isinstance(each, str) and each in tools)
    return [each for each in known if not each.name.startswith(BESIDE)]


def sketch_schema(tools: Sequence[str], most: int) -> dict[str, Any]:
    """JSON Schema of a sketch that may call these tools."""
    step = {
        "type": "object",
        "required": ["id", "tool"],
        "properties": {
            "id": {"type": "string", "pattern": ID_PATTERN, "maxLength": 40},
            "tool": {"enum": [*tools, ASK, THINK]},
            "with": {"type": "object"},
            "needs": {"type": "array", "items": {"type": "string"}},
            "title": {"type": "string"},
            "accept": {"type": "array", "items": {"type": "string"}},
            "seconds": {"type": "number", "minimum": 0},
        },
    }
    steps = {"type": "array", "items": step, "minItems": 1, "maxItems": most}
    return {"type": "object", "required": ["steps"], "properties": {"lookahead": {"type": "boolean"}, "steps": steps}}


def document_of(sketch: Mapping[str, Any], goal: str, inputs: Iterable[str] = ()) -> dict[str, Any]:
    """The plan that a sketch stands for. `goal` is a text of a plan; `inputs` are what it is given, by name."""
    steps = [_step(each, sketch["steps"]) for each in sketch["steps"]]
    given = {name: dict[str, Any]() for name in inputs}
    head: dict[str, Any] = {"perdure": 1, "goal": goal, **({"inputs": given} if given else {}), **_output(steps)}
    if sketch.get("lookahead") and any(each["needs"] for each in steps):
        place = _place_among(steps)
        return {**head, "requires_lookahead": True, "checkpoints": [place], "steps": _with_checkpoint(steps, place)}
    return {**head, "steps": steps}


def problems_of(
    document: Mapping[str, Any], toolbox: Toolbox, known: Sequence[str] = (), secrets: Collection[str] = ()
) -> list[Problem]:
    """What keeps a plan from being carried out.

    `known`: steps that are over before it begins. `secrets`: those that it may name.
    """
    reading = read_data(_among(document, known) if known else document, toolbox=toolbox)
    problems = [each for each in reading.problems if each.severity == "error"]
    problems += _not_given(reading.plan, secrets) if reading.plan else ()
    return [replace(each, path=each.path[2:]) for each in problems] if known else problems


def _not_given(plan: Plan, secrets: Collection[str]) -> Iterator[Problem]:
    for name, path in secrets_in(Index(plan)).items():
        if name not in secrets:
            there = ", ".join(sorted(secrets))
            hint = f"there are: {there}" if there else "there are none: leave it out"
            yield Problem("PRD4213", f'there is no secret "{name}"', path, hint)


def _among(document: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """A plan whose steps come after others, of which it is only known what they are called."""
    names = [each["id"] for each in document["steps"]]
    over = [each for each in known if each not in names]
    own = [{**each, "needs": [need for need in each["needs"] if need not in over]} for each in document["steps"]]
    before = [{"id": each, "model": "default", "prompt": "-"} for each in over]
    given = {"inputs": document.get("inputs", {})}
    return {"perdure": 1, **given, "steps": [*before, {"id": NEW, "mode": "graph", "steps": own}]}


def told(problems: Sequence[Problem], most: int = 10) -> list[str]:
    """Problems as a model reads them: the place, what is wrong, and what to write instead."""
    return [f"{_place(each)}: {each.message}{_help(each)}" for each in problems[:most]]


def _place(problem: Problem) -> str:
    return ".".join(map(str, problem.path))


def _help(problem: Problem) -> str:
    return f" ({problem.help})" if problem.help else ""


# ------------------------------------------------------------------------------- one step


def _step(step: Step, steps: Sequence[Step]) -> dict[str, Any]:
    given: Mapping[str, Any] = step.get("with", {})
    known = {each["id"] for each in steps}
    named = [*step.get("needs", ()), *(name for name in _named_in(given) if name in known)]
    needs = [each for each in dict.fromkeys(named) if each != step["id"]]
    made: dict[str, Any] = {"id": step["id"], **_call(step["tool"], given), "needs": needs}
    if step.get("title"):
        made["title"] = step["title"]
    if step.get("accept"):
        made["accept"] = list(step["accept"])
    return {**made, "estimate": {"seconds": step["seconds"]}} if step.get("seconds") else made


def _output(steps: Sequence[Step]) -> dict[str, str]:
    """If all steps lead to one, what that one gives is what the plan gives."""
    needed = {each for step in steps for each in step["needs"]}
    last = [each["id"] for each in steps if each["id"] not in needed]
    return {"output": f"${{steps.{last[0]}.output}}"} if len(last) == 1 else {}


def _call(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if tool == ASK:
        return {"ask": str(given.get("question", "")) or "How shall it go on?", "answer": "text"}
    if tool == THINK:
        return {"model": "default", "prompt": str(given.get("prompt", ""))}
    return {"tool": tool, "with": dict(given)}


def _named_in(given: Mapping[str, Any]) -> Iterator[str]:
    """The steps whose results an argument names."""
    for _, text in texts_in(given):
        try:
            expressions = template(text).expressions
        except ExpressionError:
            continue  # the checks say what is wrong with it
        for expression, _ in expressions:
            yield from (str(each.parts[0]) for each in expression.references if each.root == "steps" and each.parts)


def _place_among(steps: Sequence[Step]) -> str:
    """The name of the checkpoint, which no step has."""
    taken = {each["id"] for each in steps}
    return next(each for n in range(len(taken) + 1) if (each := FOUND + "_" * n) not in taken)


def _with_checkpoint(steps: Sequence[Step], place: str) -> list[Step]:
    """What had to be looked up, a place to go on from, and the rest."""
    first = [each for each in steps if not each["needs"]]
    rest = [{**each, "needs": [*each["needs"], place]} for each in steps if each["needs"]]
    return [*first, {"id": place, "checkpoint": True, "needs": [each["id"] for each in first]}, *rest]
