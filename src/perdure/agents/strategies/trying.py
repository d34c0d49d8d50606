"""A trial: a candidate is carried out, if there is something to do, and judged. One group, stopped and undone as one.

trial = plan[act (with its undo), judge]        sees inputs: output (the candidate), task, facts, branch, level

A staged trial begins with a copy of the workspace, or of that of the trial it goes on from, and is kept there:

trial = plan[open, act, judge]                  contained
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.agents.strategies.asking import Asked
from perdure.agents.strategies.costs import FREE, Cost, sum_of
from perdure.agents.strategies.judging import Judge, judging_step, score_by, score_of
from perdure.agents.strategies.words import facts_of, ref
from perdure.core.growth import Child, View
from perdure.plan.expr import ExpressionError
from perdure.plan.raw import is_list, is_mapping

OPEN: Final = "open"
CONTAINED: Final = {"policy": {"contained": True}}


@dataclass(frozen=True, slots=True)
class Trials:
    """How candidates are tried."""

    view: View
    agent: Agent
    judge: Judge
    act: Mapping[str, Any] | None = None
    staged: bool = False

    @property
    def are_steps(self) -> bool:
        """Whether a candidate has to be tried by steps; else an expression tells at once."""
        return self.act is not None or self.judge.is_step

    def trial(self, path: str, size: int, branch: str, level: int, after: str = "") -> Asked:
        """Try what a path leads to; it is so many pieces of tokens long. `after`: the trial that it goes on from."""
        judged = judging_step(self.view, self.agent, self.judge, size, self.act is not None)
        steps = [{"id": OPEN, "tool": "branch.open", "with": {"origin": "${inputs.origin}"}}] if self.staged else []
        steps += [{**self.act, "id": "act"}] if self.act else []
        steps += [{**judged.step, "id": "judge"}] if self.judge.is_step else []
        output = {each["id"]: ref(f"steps.{each['id']}.output") for each in steps}
        given = {"task": "${inputs.task}", "facts": facts_of(self.view), "output": ref(path)}
        given |= {"branch": branch, "level": level}
        given |= {"origin": self.copy_of(after) if after else ""} if self.staged else {}
        plan = {"steps": steps, "output": {**output, "level": level}}
        cost = sum_of({"steps": _leaves(self.act) + self.staged}, judged.cost if self.judge.is_step else FREE)
        return Asked({"plan": plan, "with": given, **(CONTAINED if self.staged else {})}, cost)

    @staticmethod
    def copy_of(trial: str) -> str:
        """The branch that a staged trial has opened."""
        return ref(f"steps.{trial}.output.{OPEN}.branch")

    def cost(self, size: int) -> Cost:
        """What one trial may take."""
        return self.trial("inputs.task", size, "", 0).cost if self.are_steps else FREE

    def score(self, output: Any, tried: Child | None = None) -> float | None:
        """How good a candidate is; None if that cannot be said, or its trial failed."""
        if tried is not None and tried.exit != "success":
            return None
        found: Mapping[str, Any] = tried.output if tried is not None else {}
        if self.judge.expr is None:
            return score_of(found.get("judge")) if self.judge.is_step else 0.0
        inputs = {"task": self.view.task, "facts": self.view.facts, "output": output}
        try:
            return score_by(self.judge.expr, inputs, found.get("act"))
        except ExpressionError:
            return None  # it lacks what is asked about: that one is no good, and others may be


def _leaves(step: Any) -> int:
    """How many steps act in a step."""
    if is_list(step):
        return sum(map(_leaves, step))
    if not is_mapping(step):
        return 0
    inner = [step[word] for word in ("steps", "parallel", "plan") if word in step]
    return sum(map(_leaves, inner)) if inner else 1
