"""A run as far as it was told: what of it is not over. What is over is told, and not held."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from perdure.observing.happenings import Happening, What
from perdure.observing.naming import Callee, Documents, Naming


class Begun(msgspec.Struct, frozen=True, gc=False):
    """Something that is not over."""

    at: int
    seq: int
    """The fact that tells its beginning."""
    within: int = 0
    """The fact with which the run was at work then."""
    visit: int = 0
    attempt: int = 0
    word: str = ""
    """Of the visit of an agent, how it works; of a question, what it is about."""


class Story:
    """One run."""

    def __init__(self, run: str, documents: Documents) -> None:
        self.run: Final = run
        self.documents: Final = documents
        self.seq = 0
        """The last fact that was taken."""
        self.at = 0
        """When that was. It does not run backwards, whatever a clock says."""
        self.digest = ""
        """SHA-256 of the plan that it began with."""
        self.plan = ""
        """What its plan is called."""
        self.planner = ""
        self.parent = ""
        self.session = ""
        self.naming: Naming | None = None
        self.began = Begun(0, 0)
        self.over = 0
        """How many visits are over."""
        self.visits: dict[str, Begun] = {}
        self.attempts: dict[tuple[str, str], Begun] = {}
        """Those under way, by step and deed."""
        self.questions: dict[str, Begun] = {}
        self.retrying: set[str] = set()
        """Steps that will be tried again by themselves."""
        self.active: Begun | None = None
        """Since when it is at work without a rest."""
        self.before = 0
        """The fact with which it was at work before this time; 0: never."""
        self.rested_at = 0
        """When it last came to rest."""
        self.revisions = 0
        self.failure = ""
        """The kind of failure that it ended with."""
        self.is_losing = False
        """Whether the last fact was that an attempt is lost: all that were at work are lost at once."""

    def now(self, visit: int = 0, attempt: int = 0, word: str = "") -> Begun:
        """Something that begins with the present fact."""
        within = self.active.seq if self.active is not None else self.seq
        return Begun(self.at, self.seq, within, visit, attempt, word)

    def callee(self, step: str) -> Callee:
        """What a step calls."""
        return self.naming[step] if self.naming is not None else Callee("")

    def told(self, what: What, begun: Begun | None = None, step: str = "", **more: Any) -> Happening:
        """Something that is over with the present fact, or that is but a moment."""
        begun = begun or self.now()
        about: dict[str, Any] = {"run": self.run, "step": step, "seq": self.seq, "planner": self.planner}
        spans: dict[str, Any] = {"at": begun.at, "till": self.at, "first": begun.seq, "within": begun.within}
        return Happening(what=what, **spans | about | more)

    def about(self, what: What, step: str, begun: Begun | None = None, **more: Any) -> Happening:
        """The same of a step, with what it calls."""
        kind, name = self.callee(step)
        return self.told(what, begun, step, kind=kind, name=name, **more)

    @property
    def rests(self) -> bool:
        """Whether nothing will happen by itself soon."""
        return not self.attempts and not self.retrying

    def rest(self, how: str) -> Iterator[Happening]:
        """It was at work, and is not any more. Agents are at work as long as it is."""
        active = self.active or self.now()
        for step, begun in self.visits.items():
            if begun.word:
                yield self.worked(step, begun)
        yield self.told("activation", active, name=self.plan, exit=how, number=self.before)
        self.active, self.before, self.rested_at = None, active.seq, self.at

    def worked(self, step: str, begun: Begun, **more: Any) -> Happening:
        """An agent was at its work, from its beginning on or since the run has gone on."""
        active = self.active or begun
        inside = self.inside(step)
        times: dict[str, Any] = {"at": max(begun.at, active.at), "within": active.seq, "visit": begun.visit}
        return self.about("worked", step, begun, strategy=begun.word, inside=inside, **times, **more)

    def inside(self, step: str) -> tuple[str, int]:
        """The agent whose steps a step is one of, and its visit."""
        if self.naming is None or not any(begun.word for begun in self.visits.values()):
            return "", 0
        agents = ((key, self.visits[key]) for key in self.naming.around(step) if key in self.visits)
        return next(((key, begun.visit) for key, begun in agents if begun.word), ("", 0))

    def drop(self) -> None:
        """Whatever was under way is not awaited any more."""
        for held in (self.visits, self.attempts, self.questions, self.retrying):
            held.clear()
