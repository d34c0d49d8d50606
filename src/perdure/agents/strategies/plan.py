"""Plan: make a plan, carry it out, look at what came of it, and plan anew what is left, a few times at most.

The steps of the plan become steps of the agent: what is finished stays finished, and the next plan is told of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.agents.strategies.adopting import adopted
from perdure.agents.strategies.options import options_of
from perdure.agents.strategies.words import given_of
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.expr import escaped
from perdure.plan.model.parts import Amount, JsonObject, Part

BAD: Final = frozenset({"failure", "cancelled", "exhausted"})


class Planning(Part):
    """How often it plans anew."""

    replans: Amount = 2
    """Plans after the first one."""
    draft: JsonObject = {}
    """What the one who drafts is told."""


def plan(view: View, agent: Agent) -> Move | Finish | None:
    """Have a plan drafted, carry it out, and look at what came of it."""
    if view.live:
        return None
    work = _Work(view, agent, options_of(agent, "plan", Planning))
    if view.first:
        return work.draft({}, 0)
    return work.carry_out() if view.memo["stage"] == "draft" else work.look()


@dataclass(frozen=True, slots=True)
class _Work:
    view: View
    agent: Agent
    options: Planning

    def draft(self, known: dict[str, Any], plans: int) -> Move:
        """Have a plan made."""
        secrets = {"secrets": sorted(self.view.secrets)} if self.view.secrets else {}
        facts = {name: path for name, path in given_of(self.view).items() if name != "tools"}  # it has tools of its own
        given = {**facts, **known, **secrets}
        step = {"agent": self.agent.name, "strategy": "draft", "task": "${inputs.task}", "with": given}
        return Move(add=[step], memo={"stage": "draft", "plans": plans + 1})

    def carry_out(self) -> Move | Finish:
        """Let the steps of the plan be done."""
        [drafted] = self.view.fresh
        if drafted.exit != "success":
            return Finish("failure", failure=drafted.failure)
        steps, names = adopted(drafted.output["steps"], self.view.born)
        tags = {new: old for old, new in names.items()}
        return Move(add=steps, tags=tags, memo={**self.view.memo, "stage": "work", "last": _last(steps, names)})

    def look(self) -> Move | Finish:
        """Be done, or plan anew what is left."""
        failed = [each for each in self._mine() if each.exit in BAD]
        if not failed:
            return Finish(output=self._output())
        if self.view.memo["plans"] > self.options.replans:
            return Finish("failure", failure=failed[0].failure or Failure("logic", "a step of the plan failed"))
        return self.draft({"so_far": "\n".join(self._told())}, self.view.memo["plans"])

    def _mine(self) -> Iterator[Child]:
        """The steps of plans that are over, in their order."""
        found = (self.view.child(f"s{n}") for n in range(1, self.view.born + 1))
        fresh = {each.id for each in self.view.fresh}
        yield from (each for each in found if each is not None and each.id in fresh)

    def _output(self) -> Any:
        """What the steps gave that no other one needed; one alone is it."""
        last: dict[str, str] = self.view.memo["last"]
        found = {old: f"${{steps.{new}.output}}" for old, new in last.items()}
        return next(iter(found.values())) if len(found) == 1 else found

    def _told(self) -> Iterator[str]:
        """What came of each step, as a text of a plan."""
        yield "A plan was begun. What succeeded is done and must not be done again; find another way for what failed."
        for each in self._mine():
            what = "output" if each.exit == "success" else "failure"
            said = f"${{steps.{each.id}.{what}}}" if each.exit in {"success", *BAD} else "nothing"
            yield f"{escaped(str(each.tag))} ended with {each.exit}: {said}"


def _last(steps: list[dict[str, Any]], names: dict[str, str]) -> dict[str, str]:
    """Those that no other step needs, by their names in the plan."""
    needed = {each for step in steps for each in step["needs"]}
    return {old: new for old, new in names.items() if new not in needed}
