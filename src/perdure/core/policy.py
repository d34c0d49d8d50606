"""What may be done: layers of rules that judge deeds.

Laws, held by the tests:

1. The verdict on a deed is the strictest that any layer gives; a layer that is added can only take away.
2. A layer says nothing about what it does not mention. No layer at all allows everything that can be understood.
3. A deed that cannot be understood (a path that climbs, a host that is no host, an empty command) is denied.
4. Patterns are compared with deeds, never with each other.
5. Within a layer `deny` wins over `allow`, and what is not allowed is denied before anybody is asked.
6. An effect is judged as well as a name: `ask: [writes]` is about every write, whatever else allows it.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Final, Literal, NamedTuple

import msgspec

from perdure.core.deeds import HOST, Deed, DeedKind, flaw_of, split_host
from perdure.core.patterns import Matches, is_command, is_command_anywhere, is_host, is_named, is_path

__all__ = [
    "HOST", "OPEN", "OURSELVES", "Deed", "DeedKind", "Judgement", "Layer", "Terms", "Verdict", "is_contained", "judge",
    "names_host",
    "shown", "split_host", "strictest", "told",
]  # fmt: skip

Verdict = Literal["allow", "ask", "deny"]
Pattern = str | tuple[str, ...]
"""A text; for commands, words."""
_RANK: Final[dict[Verdict, int]] = {"allow": 0, "ask": 1, "deny": 2}
_IMPLIED: Final[dict[DeedKind, tuple[str, ...]]] = {"read": ("reads",), "write": ("writes",), "connect": ("network",)}
OURSELVES: Final = "perdure"
"""Who denies what cannot be understood."""
FEW: Final = 5
"""Patterns that a sentence names."""
LINE: Final = 200
"""Letters of a deed that a sentence shows."""


class Terms(msgspec.Struct, frozen=True, gc=False):
    """Patterns of names: what is allowed, asked about and denied. `allow` of None: everything."""

    allow: tuple[Pattern, ...] | None = None
    ask: tuple[Pattern, ...] = ()
    deny: tuple[Pattern, ...] = ()


OPEN: Final = Terms()
"""Nothing is said."""


class Layer(msgspec.Struct, frozen=True):
    """What one author of rules says: the user, the plan, a group, a step."""

    name: str
    files_read: Terms = Terms()
    files_write: Terms = Terms()
    network: Terms = Terms()
    commands: Terms = Terms()
    tools: Terms = Terms()
    resources: Terms = Terms()
    effects: Terms = Terms()
    """By effect word."""
    contained: bool = False
    """Whether nothing may be touched but the copy of the workspace that a branch has."""


_CONTAINED: Final = attrgetter("contained")


def is_contained(layers: Iterable[Layer]) -> bool:
    """Whether any layer keeps what is done on a branch's copy."""
    return any(map(_CONTAINED, layers))


class Judgement(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What was said about a deed, and by whom."""

    deed: Deed
    verdict: Verdict = "allow"
    by: str = ""
    """The name of the layer; empty: nobody minded."""
    why: str = ""
    """A sentence for people."""


def judge(layers: tuple[Layer, ...], deed: Deed) -> Judgement:
    """The strictest verdict that any layer gives on a deed; of several, the first one's.

    What is allowed is allowed by the innermost layer that names it, or by nobody if none does.
    """
    return _judged_call(layers, deed) if deed.kind == "call" else _judge(layers, deed)


def _judge(layers: tuple[Layer, ...], deed: Deed) -> Judgement:
    if flaw := flaw_of(deed):
        return Judgement(deed, "deny", OURSELVES, flaw)
    found = Judgement(deed)
    for layer in layers:
        verdict, why = _verdict(layer, deed)
        if _RANK[verdict] > _RANK[found.verdict] or (verdict == found.verdict == "allow" and why):
            found = Judgement(deed, verdict, layer.name, why)
    return found


_judged_call: Final = lru_cache(1024)(_judge)
"""The same few tools are called again and again, under the same rules."""


def is_nothing(found: Judgement) -> bool:
    """Whether nobody minded: that is no decision."""
    return found.verdict == "allow" and not found.by


def names_host(layers: Sequence[Layer], deed: Deed) -> bool:
    """Whether the outermost layer allows a connection by the very name of its host.

    A pattern that fits is not enough, and no layer further in can say it: what a name such as `localhost` or an address
    leads to lies behind our own walls.
    """
    host, _ = split_host(deed.what)
    patterns = (layers[0].network.allow or ()) if layers else ()
    return any(split_host(str(pattern))[0] == host and is_host(str(pattern), deed) for pattern in patterns)


def strictest(judgements: Iterable[Judgement]) -> Verdict:
    """The verdict on several deeds together."""
    found = {each.verdict for each in judgements}
    return "deny" if "deny" in found else "ask" if "ask" in found else "allow"


# ------------------------------------------------------------------------------- one layer


class _Said(NamedTuple):
    verdict: Verdict
    why: str


_NOTHING: Final = _Said("allow", "")


def _verdict(layer: Layer, deed: Deed) -> _Said:
    """What a layer says about the deed itself, and about the effects it has."""
    about = _ABOUT[deed.kind]
    named = _by_terms(getattr(layer, about.terms), deed, about)
    words = deed.words if deed.kind == "call" else _IMPLIED.get(deed.kind, ())
    effects = (_by_effect(layer.effects, deed, word) for word in words)
    return max((named, *effects), key=lambda said: _RANK[said.verdict])


def _by_terms(terms: Terms, deed: Deed, about: "_About") -> _Said:
    if (pattern := _first(terms.deny, deed, about.takes_away)) is not None:
        return _Said("deny", f"{told(deed)} is denied by {shown(pattern)}")
    allowing = _first(terms.allow, deed, about.allows) if terms.allow is not None else None
    if terms.allow is not None and allowing is None:
        return _Said("deny", f"{told(deed)} is not among what is allowed: {_listed(terms.allow)}")
    if (pattern := _first(terms.ask, deed, about.takes_away)) is not None:
        return _Said("ask", f"{told(deed)} needs approval by {shown(pattern)}")
    return _NOTHING if allowing is None else _Said("allow", f"as {shown(allowing)}")


def _by_effect(terms: Terms, deed: Deed, word: str) -> _Said:
    if word in terms.deny or (terms.allow is not None and word not in terms.allow):
        return _Said("deny", f'{told(deed)} is denied by its effect "{word}"')
    if word in terms.ask:
        return _Said("ask", f'{told(deed)} needs approval by its effect "{word}"')
    return _NOTHING


def _first(patterns: Sequence[Pattern], deed: Deed, matches: Matches) -> Pattern | None:
    return next((pattern for pattern in patterns if matches(pattern, deed)), None)


class _About(NamedTuple):
    terms: str
    """The field of a layer."""
    allows: Matches
    takes_away: Matches


_ABOUT: Final[dict[DeedKind, _About]] = {
    "call": _About("tools", is_named, is_named),
    "read": _About("files_read", is_path, is_path),
    "write": _About("files_write", is_path, is_path),
    "connect": _About("network", is_host, is_host),
    "run": _About("commands", is_command, is_command_anywhere),
    "use": _About("resources", is_named, is_named),
}

# ------------------------------------------------------------------------------- sentences


def told(deed: Deed) -> str:
    """A deed in a few words: `write src/a.py`, `run git push`."""
    whole = f"{deed.kind} {' '.join(deed.words) if deed.kind == 'run' else deed.what}"
    return whole if len(whole) <= LINE else whole[: LINE - 1] + "…"


def shown(pattern: Pattern) -> str:
    """A pattern as a sentence shows it."""
    return pattern if isinstance(pattern, str) else " ".join(pattern)


def _listed(patterns: Sequence[Pattern]) -> str:
    some = ", ".join(map(shown, patterns[:FEW])) + (", …" if len(patterns) > FEW else "")
    return some or "nothing"
