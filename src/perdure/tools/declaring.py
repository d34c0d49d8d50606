"""What a tool says about itself: what it does to the world, how that is found out, and how it is taken back."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypedDict

from perdure.core.policy import Deed, DeedKind
from perdure.plan.model.parts import EffectWord

if TYPE_CHECKING:
    from perdure.tools.rules import Rule

WORDS: Final[tuple[EffectWord, ...]] = ("reads", "writes", "network", "irreversible", "costs")
_UNKNOWN: Final[tuple[EffectWord, ...]] = ("reads", "writes", "network", "irreversible")
"""What is assumed of a tool that says nothing and may not be repeated."""
_JUDGED_BY_DEED: Final = frozenset({"reads", "writes", "network"})
_OUTSIDE: Final[dict[EffectWord, str]] = {"reads": "files", "network": "the network"}
_ARGUMENT: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Happened:
    """What a probe returns when the deed was done; with what it gave."""

    output: Any = None


@dataclass(frozen=True)
class NotHappened:
    """What a probe returns when the deed was surely not done. Everything else means: nobody knows."""


def found_out(value: Any) -> dict[str, Any]:
    """What a probe returned, as a fact."""
    match value:
        case Happened(output):
            return {"happened": True, "output": output}
        case NotHappened():
            return {"happened": False}
        case _:
            return {"happened": None}


class Declared(TypedDict, total=False):
    """The words of `@tool` that declare something."""

    effects: Sequence[EffectWord]
    reads: Sequence[str]
    writes: Sequence[str]
    hosts: Sequence[str]
    resources: Sequence[str]
    judges: bool
    probe: Callable[..., Any]
    undo: Callable[..., Any]
    estimate: Mapping[str, float]
    staged: bool | Callable[..., bool]
    foresee: Callable[..., Any]
    origin: str
    failures: "Sequence[Rule]"
    skills: Sequence[str]
    requires: Sequence[str]
    achieves: Sequence[str]
    recalls: bool


@dataclass(frozen=True)
class Declaration:
    """In all lists, `{argument}` stands for what the call is given under that name."""

    effects: Sequence[EffectWord] | None = None
    """Effect words; None: nobody said. An empty list says that it does nothing to the world."""
    reads: Sequence[str] = ()
    """Files of the workspace that it reads."""
    writes: Sequence[str] = ()
    """Files of the workspace that it writes."""
    hosts: Sequence[str] = ()
    """Hosts that it connects to, as `host:port`."""
    resources: Sequence[str] = ()
    """Things it uses that others may be forbidden to."""
    judges: bool = False
    """Whether it has each read, write and connection judged itself, when it knows what exactly it is about to do."""
    probe: Callable[..., Any] | None = None
    """Finds out whether a call had its effect: `Happened(output)`, `NotHappened()`; all else means: nobody knows."""
    undo: Callable[..., Any] | None = None
    """Takes the effect of a call back."""
    estimate: Mapping[str, float] | None = None
    """What one call is expected to take: `seconds`, `usd`, `tokens`."""
    staged: bool | Callable[..., bool] | None = None
    """Whether all it does happens in `context.hands.workspace` and `.state`, so that it may be rehearsed on a copy.

    A function is told the arguments, and `hands`.
    """
    foresee: Callable[..., Any] | None = None
    """Has `context.guard` judge what a call would have it judge, as far as that is known, and does nothing."""
    origin: str = ""
    """Where it came from, if not from a Python function: an MCP server."""
    failures: "Sequence[Rule]" = ()
    """Rules on what kind of failure is what; the user's count before them, and ours after."""
    skills: Sequence[str] = ()
    """What it is able to do. It may stand in for the tool of a step that asks for these skills, if that fails."""
    requires: Sequence[str] = ()
    """Facts that have to hold before a call, for planners; in them `?argument` stands for what the call is given."""
    achieves: Sequence[str] = ()
    """Facts that a call makes true, and, with `not`, those that it makes false."""
    recalls: bool = False
    """Whether what it gives comes from earlier runs."""

    def words(self, *, careful: bool) -> tuple[EffectWord, ...]:
        """Its effects; of one that says nothing, the worst is assumed if it may not be repeated."""
        if self.effects is not None:
            return tuple(self.effects)
        return _UNKNOWN if careful else ()

    def is_reversible(self, *, careful: bool) -> bool:
        """Whether its effects can be taken back, or it has none."""
        return self.undo is not None or "irreversible" not in self.words(careful=careful)

    @property
    def outside(self) -> str:
        """What it reads outside of the run, in words; empty: nothing. Of one that says nothing, that is not known."""
        if self.effects is None:
            return "what it does not declare"
        found = [what for word, what in _OUTSIDE.items() if word in self.effects]
        return " and ".join([*found, "earlier runs"] if self.recalls else found)

    @cached_property
    def reaches(self) -> bool:
        """Whether it says beforehand what it reads, writes, connects to or uses."""
        return bool(self.reads or self.writes or self.hosts or self.resources)

    def called(self, name: str, *, careful: bool) -> Deed:
        """The call itself, with those effects that nobody judges apart."""
        words = self.words(careful=careful)
        return Deed("call", name, tuple(each for each in words if not (self.judges and each in _JUDGED_BY_DEED)))

    def reached(self, arguments: Mapping[str, Any]) -> list[Deed]:
        """What a call reads, writes, connects to and uses."""
        lists: Sequence[tuple[DeedKind, Sequence[str]]] = (
            ("read", self.reads), ("write", self.writes), ("connect", self.hosts), ("use", self.resources)
        )  # fmt: skip
        return [Deed(kind, _filled(each, arguments)) for kind, patterns in lists for each in patterns]

    def data(self) -> dict[str, Any]:
        """The declaration as JSON, for people and for hashing.

        `staged` and `foresee` are not in it: they say what a rehearsal does, and nobody approves a rehearsal.
        """
        said = {"effects": self.effects, "reads": self.reads, "writes": self.writes, "hosts": self.hosts}
        plain = {key: list(value) for key, value in said.items() if value is not None}
        return {
            **plain,
            "resources": list(self.resources),
            "judges": self.judges,
            "probe": self.probe is not None,
            "undo": self.undo is not None,
            "estimate": dict(self.estimate or {}),
            "origin": self.origin,
            **({"failures": [each.data() for each in self.failures]} if self.failures else {}),
            **({"skills": list(self.skills)} if self.skills else {}),
            **({"requires": list(self.requires)} if self.requires else {}),
            **({"achieves": list(self.achieves)} if self.achieves else {}),
            **({"recalls": True} if self.recalls else {}),
        }


UNDECLARED: Final = Declaration()


def _filled(pattern: str, arguments: Mapping[str, Any]) -> str:
    """The pattern with arguments put in, as they are: nothing in an argument is read as a pattern."""
    return _ARGUMENT.sub(lambda found: str(arguments.get(found[1], "")), pattern)


def called_with(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Call a function with those of the known values that it has parameters for."""
    return function(**{name: known[name] for name in parameters_of(function) if name in known})


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names a function takes values by."""
    return tuple(inspect.signature(function).parameters)
