"""Names that stand for others: what a plan calls by a word that is gone, and what somebody says it is called now.

The plan keeps its words, and so do calls, digests and keys: a deed that was begun under the old name is the same deed
under the new one. Only whoever is asked about a word, or called by it, is the other one. What is over stays as it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import structs

from perdure.core import events as e
from perdure.core.calls import Call
from perdure.core.deeds import Deed
from perdure.core.patterns import is_named
from perdure.core.policy import Layer, Terms

KINDS: Final = ("tools", "strategies", "plans")
"""What can have another name."""
AGENT: Final = "agent:"
"""Stands before the name of an agent where its way of working is meant."""
Pairs = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Names:
    """What words of the plan stand for. Those that are not here stand for themselves."""

    tools: Pairs = field(default_factory=dict[str, str])
    strategies: Pairs = field(default_factory=dict[str, str])
    plans: Pairs = field(default_factory=dict[str, str])

    def after(self, said: e.NamesMapped) -> "Names":
        """With what was said besides. Who says a=b and later b=c means c."""
        return Names(*(_joined(getattr(self, kind), getattr(said, kind)) for kind in KINDS))

    def called(self, call: Call) -> Call:
        """The call as it is made."""
        if call.kind != "tool" or call.name not in self.tools:
            return call
        return Call("tool", self.tools[call.name], call.arguments)

    def tool(self, name: str) -> str:
        """What a tool is called now."""
        return self.tools.get(name, name)

    def agent(self, name: str) -> str:
        """What an agent is called now."""
        return self.strategies.get(f"{AGENT}{name}", name).removeprefix(AGENT)

    def layers(self, tool: str, outer: tuple[Layer, ...], inner: tuple[Layer, ...]) -> tuple[Layer, ...]:
        """The rules for a call of a tool, where one about its old name is about the new one too.

        A plan that allows the old name allows the new one. What the user allows is what it is called now.
        """
        new = self.tool(tool)
        if new == tool:
            return (*outer, *inner)
        taken = [_about_both(layer, tool, new, allows=False) for layer in outer]
        return (*taken, *(_about_both(layer, tool, new, allows=True) for layer in inner))


def _joined(before: Pairs, said: Pairs) -> dict[str, str]:
    found = dict(before)
    for old, new in said.items():
        end = _end_of(found, old, new)
        found = {name: end if to == old else to for name, to in found.items()} | {old: end}
    return {name: to for name, to in found.items() if name != to}


def _end_of(known: Pairs, old: str, new: str) -> str:
    return new if new == old else known.get(new, new)


def flaw_in(names: Names, said: e.NamesMapped) -> str:
    """Why names cannot be mapped so; empty: they can."""
    if not (said.tools or said.strategies or said.plans):
        return "nothing is said about any name"
    for kind in KINDS:
        known: Pairs = getattr(names, kind)
        for old, new in getattr(said, kind).items():
            if old == new and old not in known:
                return f"{old} stands for itself already"
            if old != new and _end_of(known, old, new) == old:
                return (
                    f"{old}={new} goes round in a circle, because {new} stands for {old}; {new}={new} takes that back"
                )
            known = _joined(known, {old: new})
    return ""


# ------------------------------------------------------------------------------- rules about a name


def _about_both(layer: Layer, old: str, new: str, *, allows: bool) -> Layer:
    said, deed = layer.tools, Deed("call", old)

    def names_old(patterns: tuple[Any, ...]) -> bool:
        return any(is_named(each, deed) for each in patterns)

    allow = said.allow
    if allows and allow is not None and names_old(allow):
        allow = (*allow, new)
    ask, deny = ((*each, new) if names_old(each) else each for each in (said.ask, said.deny))
    return structs.replace(layer, tools=Terms(allow, ask, deny))
