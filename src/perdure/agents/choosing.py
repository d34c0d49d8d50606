"""Choosing an agent (A4): by skills, then by how well it did before, how busy it is, and what it costs.

Whoever has all the skills could do it. Of several, the one with the best score does:

    score = success ^ a  ·  free  ·  cheap ^ b

`success` is the share of its last tasks that went well, where one of each kind is counted in, so that a newcomer has
an even chance; `free` is 1 / (1 + tasks it is at); `cheap` is the lowest price of all who could, divided by its own.
What is important is given to who does it well, whatever that costs (a = 2, b = 0); what is not, to who does it for less
(a = 1, b = 2); `priority` says which. Where agents are named in an order, the first that can does it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.agents.agent import Agent
from perdure.plan.problems import did_you_mean
from perdure.ports import Chosen, Memory, Wanted
from perdure.tools.failure import ToolFailure

LAST_TASKS: Final = 1_000
"""Tasks that are looked at, of all agents together; what is older does not count."""
LEAST_USD: Final = 0.0001
"""Is added to every price, so that one who works for nothing does not make all others alike."""
NOBODY: Final = "invalid"
BUSY: Final = "rate_limited"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an agent when work is given out."""

    load: int = 0
    """How many tasks it is at."""
    good: int = 0
    """How many of its last tasks went well."""
    bad: int = 0
    """How many did not."""
    seat: str = ""
    """One that the work around holds already: it goes on there, however many others wait."""
    claimed: int = 0
    """Places that more important work waits for."""


def choose(agents: Sequence[Agent], wanted: Wanted, known: Mapping[str, Known], taken: Collection[str]) -> Chosen:
    """Who does it. `taken` are seats that somebody has."""
    able = able_of(agents, wanted)
    ranked = _ranked([_Candidate(each, known.get(each.name, Known())) for each in able], wanted)
    best = next((each for each in ranked if each.has_room), None)
    if best is None:
        names = ", ".join(f"{each.agent.name} ({each.busy})" for each in ranked)
        raise ToolFailure(BUSY, f"all who could do it are at work: {names}")
    considered = [each.told(_score(each, ranked, wanted)) for each in ranked]
    return Chosen(agent=best.agent.name, seat=best.seat(taken), why=best.why(wanted, ranked), considered=considered)


def records_of(tasks: Iterable[Memory]) -> Mapping[str, tuple[int, int]]:
    """How many tasks of each agent went well, and how many did not."""
    found: dict[str, tuple[int, int]] = {}
    for each in tasks:
        good, bad = found.get(each.about, (0, 0))
        found[each.about] = (good + 1, bad) if each.text == "success" else (good, bad + 1)
    return found


# ------------------------------------------------------------------------------- who could


def able_of(agents: Sequence[Agent], wanted: Wanted) -> list[Agent]:
    """Who could do it; `ToolFailure` says what is missing if nobody could."""
    named = [each for each in agents if not wanted.among or each.name in wanted.among]
    skilled = [each for each in named if set(wanted.skills) <= set(each.skills)]
    able = [each for each in skilled if each.name not in wanted.without]
    if able:
        return able
    if skilled:
        raise ToolFailure(NOBODY, f"nobody else could do it; {', '.join(wanted.without)} tried")
    raise ToolFailure(NOBODY, _missing(agents, wanted))


def _missing(agents: Sequence[Agent], wanted: Wanted) -> str:
    every = {skill for each in agents for skill in each.skills}
    lacking = [skill for skill in wanted.skills if skill not in every]
    if lacking:
        hint = did_you_mean(lacking[0], every) or "no agent has any"
        return f'nobody has the skill "{lacking[0]}"; {hint}'
    who = f" of {', '.join(wanted.among)}" if wanted.among else ""
    return f"nobody{who} has all of {', '.join(wanted.skills)}" if wanted.skills else f"there is nobody{who}"


# ------------------------------------------------------------------------------- who is best


@dataclass(frozen=True, slots=True)
class _Candidate:
    agent: Agent
    known: Known

    @property
    def has_room(self) -> bool:
        limit = self.agent.limit
        return limit is None or bool(self.known.seat) or self.known.load + self.known.claimed < limit

    @property
    def success(self) -> float:
        return (self.known.good + 1) / (self.known.good + self.known.bad + 2)

    @property
    def busy(self) -> str:
        most = "" if self.agent.limit is None else f" of {self.agent.limit}"
        waits = f", {self.known.claimed} more important waiting" if self.known.claimed else ""
        return f"{self.known.load}{most} at work{waits}"

    @property
    def before(self) -> str:
        tasks = self.known.good + self.known.bad
        return f"{self.known.good} of its last {tasks} tasks went well" if tasks else "it is new here"

    def seat(self, taken: Collection[str]) -> str:
        if self.agent.limit is None or self.known.seat:
            return self.known.seat
        return next(seat for n in range(1, len(taken) + 2) if (seat := seat_of(self.agent.name, n)) not in taken)

    def why(self, wanted: Wanted, ranked: "Sequence[_Candidate]") -> list[str]:
        skills = [f"has {', '.join(wanted.skills)}"] if wanted.skills else []
        named = [_place(self.agent.name, wanted)] if wanted.among else []
        price = [] if self.agent.price is None else [f"{self.agent.price:g} USD a task"]
        others = [f"{each.agent.name} is not free: {each.busy}" for each in _before(self, ranked)]
        return [*named, *skills, self.before, self.busy, *price, *others]

    def told(self, score: float) -> dict[str, Any]:
        found = {"agent": self.agent.name, "score": round(score, 4), "success": round(self.success, 4)}
        return {**found, "load": self.known.load, "limit": self.agent.limit, "price": self.agent.price}


def seat_of(agent: str, number: int) -> str:
    """The lock that one task of an agent holds."""
    return f"agent.{agent}.{number}"


def _before(chosen: _Candidate, ranked: Sequence[_Candidate]) -> Sequence[_Candidate]:
    return ranked[: ranked.index(chosen)]


def _place(name: str, wanted: Wanted) -> str:
    place = wanted.among.index(name)
    return "it was named for it" if place == 0 else f"it stands in for {wanted.among[0]}"


def _ranked(found: Sequence[_Candidate], wanted: Wanted) -> list[_Candidate]:
    if wanted.among:
        return sorted(found, key=lambda each: wanted.among.index(each.agent.name))
    return sorted(found, key=lambda each: (-_score(each, found, wanted), each.agent.name))


def _score(one: _Candidate, of: Sequence[_Candidate], wanted: Wanted) -> float:
    a, b = (2, 0) if wanted.priority > 0 else (1, 2) if wanted.priority < 0 else (1, 1)
    return one.success**a / (1 + one.known.load) * _cheap(one, of) ** b


def _cheap(one: _Candidate, of: Sequence[_Candidate]) -> float:
    """1 is the cheapest. Who does not say what it costs counts as the dearest."""
    prices = [each.agent.price for each in of if each.agent.price is not None]
    own = max(prices, default=0.0) if one.agent.price is None else one.agent.price
    return (min(prices, default=0.0) + LEAST_USD) / (own + LEAST_USD)
