"""`sample`: several answers to the same question. The one that most of them agree on, or the best by a judge.

    s1 s2 s3 answers beside each other → s4 … only as many more as may still change the majority → the answer
    s1 s2 s3 answers beside each other → s4 s5 s6 trials of them, if steps have to judge → the best

How many there are follows from what is left to spend.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import Heard, finished, hear, schema_of
from perdure.agents.strategies.asking import Asked, ask, grown, longest
from perdure.agents.strategies.costs import Cost, affordable, sum_of
from perdure.agents.strategies.judging import Judge
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.trying import Trials
from perdure.agents.strategies.words import length_of, task_of
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.core.values import to_json
from perdure.plan.expr import ExpressionError, parse
from perdure.plan.model.parts import Expression, Line, Many, Number, Part

MOST: Final = 64
"""Answers to one question."""


class SampleOptions(Part):
    """How many answers, and which is taken."""

    answers: Annotated[int, Field(ge=1, le=MOST)] = 5
    """The most that are asked for."""
    by: Expression | None = None
    """What answers have to agree in, as an expression over `output`; left out: in all of it."""
    judge: Judge | None = None
    """Who says how good an answer is; left out: the majority counts."""
    goal: Number | None = None
    """A score that is good enough: the first answer that has it is taken."""
    angles: Many[Line] = ()
    """Hints, one for each answer in turn, so that they come from different sides."""

    @model_validator(mode="after")
    def _no_votes(self) -> "SampleOptions":
        if self.judge is not None and self.judge.votes is not None:
            raise PydanticCustomError("judge", "answers are counted as votes where there is no judge; leave it out")
        return self


def sample(view: View, agent: Agent) -> Move | Finish | None:
    """Ask several times, and take the majority or the best."""
    options = options_of(agent, "sample", SampleOptions)
    if options.judge is None:
        return _by_majority(view, agent, options)
    return _by_judge(view, agent, options, Trials(view, agent, options.judge))


def _ask(view: View, agent: Agent, options: SampleOptions, number: int) -> Asked:
    """One answer. That it has a number makes each question one of its own."""
    words = task_of(view)
    if options.angles:
        words = words.say(f"\n\n{options.angles[number % len(options.angles)]}")
    return ask(
        view, agent, words.say(f"\n\nThis is attempt {number}, made without the others."), returns=schema_of(view)
    )


def _wave(view: View, agent: Agent, options: SampleOptions, wanted: int, besides: Cost) -> Move | None:
    """Ask for more answers, as many as can be paid with all that follows; None if that is none."""
    asked = [_ask(view, agent, options, view.born + number) for number in range(1, wanted + 1)]
    able = affordable([sum_of(each.cost, besides) for each in asked], view.left)
    if able:
        return Move(add=grown(asked[:able], view.left))
    return Move(add=[asked[0].step]) if view.first else None  # whoever keeps the budget says what follows


# ------------------------------------------------------------------------------- by the majority


def _by_majority(view: View, agent: Agent, options: SampleOptions) -> Move | Finish | None:
    if view.first:
        return _wave(view, agent, options, options.answers // 2 + 1, {})
    groups, voided = _groups(view, options)
    coming = options.answers - view.born + view.live
    if not _is_open(groups, coming):
        return finished(view, groups[0][0])
    if view.live:
        return None
    more = _wave(view, agent, options, _missing(groups, coming), {}) if coming else None
    if more is not None:
        return more
    return finished(view, groups[0][0]) if groups else Finish("failure", failure=_none(voided))


def _groups(view: View, options: SampleOptions) -> tuple[list[list[Heard]], list[Heard]]:
    """Answers that agree, the largest group first; and those that are none."""
    groups: dict[bytes, list[Heard]] = {}
    voided: list[Heard] = []
    for child in _ended(view):
        heard = hear(child, schema_of(view))
        if heard.flaws:
            voided.append(heard)
        else:
            groups.setdefault(_key(heard.value, options.by), []).append(heard)
    return sorted(groups.values(), key=len, reverse=True), voided


def _ended(view: View) -> Iterator[Child]:
    """The answers, in the order they were asked for: which came first must not decide."""
    for number in range(1, view.born + 1):
        child = view.child(f"s{number}")
        if child is not None and child.exit:
            yield child


def _key(value: Any, by: str | None) -> bytes:
    """What answers have to agree in. One that does not have it stands for itself."""
    try:
        found = value if by is None else parse(by).evaluate({"output": value})
    except ExpressionError:
        found = value
    return to_json(found.strip() if isinstance(found, str) else found)


def _is_open(groups: Sequence[Sequence[Heard]], coming: int) -> bool:
    """Whether those that are still to come may change the majority."""
    if not groups:
        return True
    second = len(groups[1]) if len(groups) > 1 else 0
    return coming > 0 and len(groups[0]) <= second + coming


def _missing(groups: Sequence[Sequence[Heard]], coming: int) -> int:
    """The fewest that can decide it: if all of them say what most say now."""
    sizes = [*(len(each) for each in groups), 0, 0]
    return min(coming, max(1, -(-(sizes[1] + coming + 1 - sizes[0]) // 2)))


def _none(voided: Sequence[Heard]) -> Failure:
    """Why there is no answer: what is wrong with the last one."""
    return Failure("invalid", f"no answer fits: {'; '.join(voided[-1].flaws)}")


# ------------------------------------------------------------------------------- by a judge


def _by_judge(view: View, agent: Agent, options: SampleOptions, trials: Trials) -> Move | Finish | None:
    if view.first:
        return _wave(view, agent, options, options.answers, trials.cost(longest(agent)))
    if trials.are_steps and view.memo is None:
        return None if view.live else _try(view, options, trials)
    scored = _scored(view, options, trials)
    if view.live and not (scored and options.goal is not None and scored[0][0] >= options.goal):
        return None
    if not scored:
        return Finish("failure", failure=Failure("unmet", "no answer could be judged"))
    return finished(view, scored[0][1])


def _try(view: View, options: SampleOptions, trials: Trials) -> Move | Finish:
    """Have every answer judged that differs from the others, as far as that can be paid."""
    groups, voided = _groups(view, options)
    if not groups:
        return Finish("failure", failure=_none(voided))
    heard = [group[0] for group in groups]
    places = [f"s{view.born + n}" for n in range(1, len(heard) + 1)]
    asked = [trials.trial(one.path, length_of(one.value), at, 1) for at, one in zip(places, heard, strict=True)]
    able = affordable([each.cost for each in asked], view.left)
    if not able:
        return finished(view, heard[0])
    tags = {at: one.child.id for at, one in zip(places[:able], heard, strict=False)}
    return Move(add=grown(asked[:able], view.left), tags=tags, memo=view.born)


def _scored(view: View, options: SampleOptions, trials: Trials) -> list[tuple[float, Heard]]:
    """The answers that are judged, the best first; of equals the one that was asked for first."""
    if trials.are_steps:
        tried = sorted(view.fresh, key=lambda each: int(each.id[1:]))
        pairs = [
            (hear(answer, schema_of(view)), each) for each in tried if (answer := view.child(each.tag)) is not None
        ]
    else:
        pairs = [(group[0], None) for group in _groups(view, options)[0]]
    found = [(trials.score(heard.value, trial), heard) for heard, trial in pairs]
    return sorted(((score, heard) for score, heard in found if score is not None), key=lambda each: -each[0])
