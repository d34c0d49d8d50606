"""Adapted: the agent of another framework works in its own way, and nothing that it does is hidden.

Its own loop runs inside a step, the *stretch*, which does nothing but find out what comes next: questions to a model,
calls of tools, or the answer. Each of these is a step of its own; what they give goes into the next stretch. So what is
pure stands here, and what is a stranger's code is performed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.agents.strategies.answering import schema_of
from perdure.agents.strategies.asking import most_of
from perdure.agents.strategies.words import facts_of, who_is
from perdure.core.calls import Failure
from perdure.core.growth import Child, Finish, Move, View
from perdure.plan.expr import escaped
from perdure.plan.expr.path import written
from perdure.plan.model.parts import JsonObject, Part

ADAPTED: Final = "adapted"
"""How agents of other frameworks work, and nobody else."""
STRETCH: Final = "stretch"
"""The tool that lets an agent go on, as in `researcher.stretch`."""
MODEL: Final = "agent:"
"""What the model of an agent is called by in its steps, with its name."""
CHANGED: Final = "PRD4121"
MOST: Final = 200
"""Calls that one answer of a model may ask for."""


class AdaptedOptions(Part):
    """What is known of the agent. It is read off it, and not for people to say."""

    who: JsonObject
    """What it is known again by, part for part."""


def adapted(view: View, agent: Agent) -> Move | Finish | None:
    """Let it go on for a stretch, do what it wants, and let it go on, until there is an answer."""
    if view.live:
        return None
    work = _Work(view, agent)
    if view.first:
        return work.stretch(())
    if told := changed(view.memo, agent):
        return Finish("failure", failure=Failure("invalid", told))
    failed = next((each for each in view.fresh if each.exit != "success" and not _is_told(each)), None)
    if failed is not None:
        return Finish("failure", failure=failed.failure)
    last = view.child(view.memo["stretch"])
    assert last is not None  # noqa: S101  it was grown by a move before
    return work.stretch(list(work.results(last))) if view.fresh[-1].id != last.id else work.go_on(last)


def own_way(agent: Agent) -> str:
    """What to do where an agent is to work in a way that is not for it."""
    if agent.loop is not None:
        return "another framework has made it, and it works in its own way: leave `strategy` out"
    return f'"{ADAPTED}" is for agents that another framework has made, by `perdure.agents.adapted`'


def changed(memo: Mapping[str, Any], agent: Agent) -> str:
    """Why an agent cannot go on with its work as it is now; empty: it can."""
    told = changes(memo["who"], agent.options["who"]) if "who" in memo else ""  # else it is not at work any more
    return f"{CHANGED}: {told}" if told else ""


def changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What is other about an agent than it was when its work began; empty: nothing."""
    parts = sorted(each for each in {*was, *now} if was.get(each) != now.get(each))
    if not parts:
        return ""
    told = ", ".join(f"its {each}{_which(was.get(each), now.get(each))}" for each in parts)
    return (
        f"the agent is not what it was when this work began: {told}; what it would do now cannot be joined to what it "
        "did then. Put it back as it was, or let the step begin anew"
    )


def _which(was: Any, now: Any) -> str:
    """Which of several are other."""
    if not isinstance(was, Mapping) or not isinstance(now, Mapping):
        return ""
    old: Mapping[str, Any] = was  # pyright: ignore[reportUnknownVariableType]
    new: Mapping[str, Any] = now  # pyright: ignore[reportUnknownVariableType]
    return f" ({', '.join(sorted(each for each in {*old, *new} if old.get(each) != new.get(each)))})"


def _is_told(child: Child) -> bool:
    """Whether the agent's model hears of a failure: that it may not do something is no end of its work."""
    return child.failure is not None and child.failure.kind == "denied" and child.tag == "tool"


@dataclass(frozen=True, slots=True)
class _Work:
    view: View
    agent: Agent

    def stretch(self, results: Sequence[Mapping[str, Any]]) -> Move:
        """Let the agent go on, with what came of its wishes."""
        who = self.agent.options["who"]
        so_far: Mapping[str, Any] = self.view.memo or {"model": ""}
        memo = {**so_far, "agent": self.agent.name, "who": who, "stretch": f"s{self.view.born + 1}"}
        told = {"results": list(results), "instructions": escaped(who_is(self.agent)), "returns": self._form()}
        given = {"task": "${inputs.task}", "given": facts_of(self.view), "who": escaped(who)}
        if self.view.context:
            given["context"] = "${inputs.context}"
        given |= {word: value for word, value in told.items() if value}
        step = {"tool": f"{self.agent.name}.{STRETCH}", "with": given}
        return Move(add=[step], memo=memo)

    def _form(self) -> Any:
        schema = schema_of(self.view)
        return None if schema is None else escaped(dict(schema))

    # ------------------------------------------------------------ what it wants

    def go_on(self, last: Child) -> Move | Finish:
        """Do what a stretch has come to want, or be done."""
        output = last.output
        if "answer" in output:
            return self._finished(last.id, output["answer"])
        wants: Sequence[Mapping[str, Any]] = output["wants"]
        if len(wants) > MOST:
            told = f"{len(wants)} calls at once; at most {MOST} can be made"
            return Finish("failure", failure=Failure("invalid", told))
        steps = [self._step(last.id, number, each) for number, each in enumerate(wants)]
        first = self.view.born + 1
        tags = {f"s{first + number}": each["kind"] for number, each in enumerate(wants)}
        asked = next((id_ for id_, kind in tags.items() if kind == "model"), self.view.memo["model"])
        return Move(add=steps, tags=tags, memo={**self.view.memo, "model": asked})

    def _finished(self, stretch: str, answer: Any) -> Finish:
        path = f"steps.{stretch}.output.answer"
        if not self.view.verdicts:
            return Finish(output=f"${{{path}}}")
        return Finish(answer["verdict"], f"${{{path}.answer}}" if "answer" in answer else None)

    def _step(self, stretch: str, number: int, want: Mapping[str, Any]) -> dict[str, Any]:
        """One thing that is wanted, as a step: what is in it goes by reference."""
        if want["kind"] == "model":
            return self._question(stretch, number, want)
        path = (stretch, "output", "wants", number, "with")
        given = {name: f"${{{written('steps', (*path, name))}}}" for name in want["with"]}
        return {"tool": want["tool"], "with": given}

    def _question(self, stretch: str, number: int, want: Mapping[str, Any]) -> dict[str, Any]:
        last = self.view.child(self.view.memo["model"]) if self.view.memo["model"] else None
        asked: dict[str, Any] = {"model": f"{MODEL}{self.agent.name}"}
        asked["prompt"] = f"${{{written('steps', (stretch, 'output', 'wants', number, 'prompt'))}}}"
        known: int = want["size"] + (0 if last is None else last.tokens)
        if last is not None:
            asked["after"] = last.id
        if self.agent.tokens is not None or "tokens" in self.view.left:
            asked["tokens"] = most_of(self.view, self.agent, known)
            asked["estimate"] = {"tokens": known + asked["tokens"]}
        return asked

    # ------------------------------------------------------------ what came of it

    def results(self, last: Child) -> Iterator[dict[str, Any]]:
        """What the steps gave that a stretch has come to want."""
        first = int(last.id[1:]) + 1
        for number, _ in enumerate(last.output["wants"]):
            child = self.view.child(f"s{first + number}")
            assert child is not None  # noqa: S101  it was grown for this
            of = f"${{{written('steps', (last.id, 'output', 'wants', number, 'id'))}}}"
            if child.failure is not None:
                yield {"of": of, "refused": escaped(child.failure.message)}
            else:
                yield {"of": of, "output": f"${{steps.{child.id}.output}}"}
