"""How good something is: said by an expression, a tool, an agent or a model; or, where there are several, by votes."""

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from perdure.agents.agent import Agent
from perdure.agents.strategies.asking import Asked, ask
from perdure.agents.strategies.words import Words, task_of
from perdure.core.growth import View
from perdure.plan.expr import ExpressionError, parse
from perdure.plan.model.parts import Count, Expression, JsonObject, Line, Name, Part, ToolName

CRITIC: Final = (
    "You are a critic. Judge how well what you are shown does its task. Say a score from 0 (useless) to 1 (perfect), "
    "the reasons for it, and what would have to change."
)
_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
VERDICT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "verdict": {"type": "string"},
        "reasons": _TEXTS,
        "fixes": _TEXTS,
    },
    "required": ["score"],
}
"""What a critic says."""
JUDGES: Final = ("expr", "tool", "agent", "model", "votes")


class Judge(Part):
    """Who says how good something is; exactly one of `expr`, `tool`, `agent`, `model`, `votes`."""

    expr: Expression | None = None
    """An expression that gives a number, or whether it is good. It sees `output`, `inputs` and `steps.act.output`."""
    tool: ToolName | None = None
    """A tool that gives a number, whether it is good, or `{score, reasons, fixes}`."""
    with_: JsonObject = Field(alias="with", default_factory=dict[str, Any])
    """Arguments of the tool; they see `inputs.output`, `inputs.task`, `inputs.facts` and `steps.act.output`."""
    agent: Name | None = None
    """An agent that gives the same."""
    model: Line | None = None
    """A model that gives the same: a tier, or `provider:model`."""
    votes: Count | None = None
    """How many votes are cast, by the agent's own model, for the best of those that stand beside each other."""
    instructions: Line = CRITIC
    """What the model or the agent is told to look at."""

    @model_validator(mode="after")
    def _one(self) -> "Judge":
        if sum(getattr(self, word) is not None for word in JUDGES) != 1:
            raise PydanticCustomError("judge", "a judge has exactly one of {words}", {"words": ", ".join(JUDGES)})
        try:
            parse(self.expr or "true")
        except ExpressionError as error:
            raise PydanticCustomError("judge", "expr: {wrong}", {"wrong": error.message}) from None
        return self

    @property
    def is_step(self) -> bool:
        """Whether each judgement is a step of its own."""
        return self.expr is None and self.votes is None


def judging_step(view: View, agent: Agent, judge: Judge, size: int, acts: bool) -> Asked:  # noqa: FBT001  a fact about it
    """The step that judges, where `inputs.output` is what is judged; it is so many pieces of tokens long."""
    if judge.tool is not None:
        return Asked({"tool": judge.tool, "with": judge.with_ or {"output": "${inputs.output}"}}, {"steps": 1})
    words = Words().say("The task:\n").show("inputs.task", view.task)
    words = words.say("\n\nWhat is to be judged:\n").point("inputs.output", size)
    if acts:
        words = words.say("\n\nIt was carried out, and gave:\n").point("steps.act.output", size)
    asked = ask(view, agent, words, returns=VERDICT, told=judge.instructions, model=judge.model or "")
    if acts:
        asked.step.pop("estimate")  # nobody knows how long the result will be; whoever asks counts it then
    if judge.agent is None:
        return asked
    about = {"output": "${inputs.output}"}
    task = Words().say(f"{judge.instructions}\n\n").add(words)
    return Asked({"agent": judge.agent, "task": task.text, "with": about, "returns": VERDICT}, asked.cost)


def score_by(source: str, inputs: Mapping[str, Any], result: Any = None) -> float | None:
    """What an expression says about `inputs.output`; None if that is no score. `ExpressionError` if it has no value."""
    seen = {"output": inputs["output"], "inputs": inputs, "steps": {"act": {"output": result}}}
    return score_of(parse(source).evaluate(seen))


def score_of(judged: Any) -> float | None:
    """The score in a judgement: a number, whether it is good, `{score}`, or a model's answer with one of these."""
    if isinstance(judged, bool | int | float):
        return float(judged)
    if isinstance(judged, Mapping):
        said = cast("Mapping[str, Any]", judged)
        return score_of(said.get("value")) if "calls" in said else score_of(said.get("score"))
    return None


# ------------------------------------------------------------------------------- votes

BALLOT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"best": {"type": "integer", "minimum": 1}},
    "required": ["best"],
}


def ballot(view: View, agent: Agent, judge: Judge, paths: Mapping[str, Any], number: int) -> Asked:
    """One vote for the best of some values, by where they are found."""
    words = task_of(view).say("\n\nThese stand for election:")
    for n, (path, value) in enumerate(paths.items(), 1):
        words = words.say(f"\n\n{n}. ").show(path, value)
    words = words.say(f"\n\nSay the number of the best one. This is vote {number}.")
    told = None if judge.instructions == CRITIC else judge.instructions or None
    return ask(view, agent, words, returns=BALLOT, told=told)


def votes_in(ballots: list[Any], standing: int) -> list[float]:
    """The share of the votes that each has, of those that can be read."""
    chosen = [each["value"]["best"] for each in ballots if each and "value" in each]
    return [chosen.count(n) / max(1, len(ballots)) for n in range(1, standing + 1)]
