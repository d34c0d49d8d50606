"""What a model is told: words of our own, and references to what there is.

No value is copied into a step that is grown. What a task, a fact or a result says stands behind `${…}`, so that data
which looks like an expression stays data; and what an agent is told is escaped, for the same reason.
"""

from dataclasses import dataclass
from typing import Any

from perdure.agents.agent import Agent
from perdure.core.growth import View
from perdure.models.answering import written as told
from perdure.plan.expr import escaped
from perdure.plan.expr.path import written
from perdure.plan.tokens import pieces_in


@dataclass(frozen=True, slots=True)
class Words:
    """A text with references in it, and how long it is once they are filled in."""

    text: str = ""
    size: int = 0
    """In pieces of tokens."""

    def say(self, words: str) -> "Words":
        """Add words; `${…}` in them is text."""
        return Words(f"{self.text}{escaped(words)}", self.size + pieces_in(words))

    def show(self, path: str, value: Any) -> "Words":
        """Add what a path leads to; the value only tells how long it is."""
        return self.point(path, length_of(value))

    def point(self, path: str, size: int) -> "Words":
        """Add what a path will lead to, at most so many pieces of tokens."""
        gap = " " if self.text.endswith("$") else ""  # a dollar sign would be read together with what follows
        return Words(f"{self.text}{gap}{ref(path)}", self.size + len(gap) + size)

    def add(self, other: "Words") -> "Words":
        """These and others after them."""
        return Words(f"{self.text}{other.text}", self.size + other.size)

    def beside(self, size: int) -> "Words":
        """The same, where so many pieces of tokens more are read with them."""
        return Words(self.text, self.size + size)


def ref(path: str) -> str:
    """A reference, as a plan writes it."""
    return f"${{{path}}}"


def length_of(value: Any) -> int:
    """How long a value is where a model reads it."""
    return pieces_in(told(value))


# ------------------------------------------------------------------------------- who, and what for


def who_is(agent: Agent, manner: str = "") -> str:
    """What the model of an agent is told before all else."""
    who = [f"You are {agent.role}." if agent.role else "", f"Your goal: {agent.goal}" if agent.goal else ""]
    parts = [*who, agent.backstory, agent.instructions, manner]
    return "\n\n".join(each.strip() for each in parts if each.strip())


def task_of(view: View) -> Words:
    """What an agent is to do, what it is given for that and what was done before."""
    words = Words().show("inputs.task", view.task)
    for n, (name, path) in enumerate(_named(view).items()):
        words = words.say(f"\n{name}: " if n else f"\n\nWhat you are given:\n{name}: ").show(path, view.facts[name])
    if not view.context:
        return words
    return words.say("\n\nWhat was done before, the newest first:\n").show("inputs.context", list(view.context))


def facts_of(view: View) -> dict[str, Any]:
    """What an agent was given, to hand it on as it is."""
    return {name: ref(path) for name, path in _named(view).items()}


def given_of(view: View) -> dict[str, Any]:
    """What an agent was given and shown of earlier results, to hand it on as it is."""
    return facts_of(view) | ({"context": ref("inputs.context")} if view.context else {})


def handed_on(view: View, **more: Any) -> dict[str, Any]:
    """A step that does the same task, with the same facts and more, for an answer of the same form."""
    step: dict[str, Any] = {"task": ref("inputs.task"), "with": given_of(view) | more}
    step |= {"returns": view.returns} if view.returns is not None else {}
    return step | ({"verdicts": list(view.verdicts)} if view.verdicts else {})


def _named(view: View) -> dict[str, str]:
    """Where the facts are found that can be referred to."""
    return {name: written("inputs", (name,)) for name in view.facts if not set(name) & set("\"'\\\r\n")}
