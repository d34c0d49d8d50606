"""A run as far as it was told: what of it is not over. What is over is told, and not held."""

from typing import Any, Final

import msgspec

from perdure.observing.happenings import Happening, What
from perdure.observing.naming import Callee, Documents, Naming


class Begun(msgspec.Struct, frozen=True, gc=False):
    """Something that is not over."""

    at: int
    seq: int
    """The fact that tells its beginning."""
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
        self.is_losing = False
        """Whether the last fact was that an attempt is lost: all that were at work are lost at once."""

    def now(self, visit: int = 0, attempt: int = 0, word: str = "") -> Begun:
        """Something that begins with the present fact."""
        return Begun(self.at, self.seq, visit, attempt, word)

    def callee(self, step: str) -> Callee:
        """What a step calls."""
        return self.naming[step] if self.naming is not None else Callee("")

    def told(self, what: What, begun: Begun | None = None, step: str = "", **more: Any) -> Happening:
        """Something that is over with the present fact, or that is but a moment."""
        begun = begun or self.now()
        about = {"run": self.run, "step": step, "seq": self.seq, "planner": self.planner}
        return Happening(what=what, at=begun.at, till=self.at, first=begun.seq, **about, **more)

    def about(self, what: What, step: str, begun: Begun | None = None, **more: Any) -> Happening:
        """The same of a step, with what it calls."""
        kind, name = self.callee(step)
        return self.told(what, begun, step, kind=kind, name=name, **more)

    @property
    def rests(self) -> bool:
        """Whether nothing will happen by itself soon."""
        return not self.attempts and not self.retrying

    def rested(self, how: str) -> Happening:
        """It was at work, and is not any more."""
        active = self.active or self.now()
        found = self.told("activation", active, name=self.plan, exit=how, number=self.before)
        self.active, self.before = None, active.seq
        return found

    def drop(self) -> None:
        """Whatever was under way is not awaited any more."""
        for held in (self.visits, self.attempts, self.questions, self.retrying):
            held.clear()
