"""What a model is told: words of our own, and references to what there is. Nothing that is data becomes a template."""

import json
from dataclasses import dataclass
from typing import Any

from perdure.agents.strategies import asking
from perdure.core.growth import View
from perdure.plan.expr import escaped


@dataclass(frozen=True, slots=True)
class Words:
    """A text with references in it, and how long it is once they are filled in."""

    text: str = ""
    size: int = 0
    """In letters."""

    def say(self, words: str) -> "Words":
        """Add words; `${…}` in them is text."""
        return Words(f"{self.text}{escaped(words)}", self.size + len(words))

    def show(self, path: str, value: Any) -> "Words":
        """Add what a path leads to; the value only tells how long it is."""
        return self.point(path, length_of(value))

    def point(self, path: str, size: int) -> "Words":
        """Add what a path will lead to, at most so many letters."""
        gap = " " if self.text.endswith("$") else ""  # a dollar sign would be read together with what follows
        return Words(f"{self.text}{gap}{ref(path)}", self.size + len(gap) + size)


def ref(path: str) -> str:
    """A reference, as a plan writes it."""
    return f"${{{path}}}"


def length_of(value: Any) -> int:
    """How long a value is where it stands in a text."""
    return len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))


def task_of(view: View) -> Words:
    """The task, and the facts to work with."""
    text = asking.task_of(view)
    given = [view.task, *view.facts.values(), list(view.context)]
    return Words(text, len(text) + sum(map(length_of, given)))
