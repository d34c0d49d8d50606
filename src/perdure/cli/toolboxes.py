"""The tools that `perdure check` knows: those that are here, unless somebody says which ones there are."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cached_property
from typing import Final

from perdure.cli.manners import known_tools, offers_here
from perdure.cli.toolsets import approved_here
from perdure.errors import PerdureError
from perdure.plan.toolbox import ToolFacts

SLIP: Final = 0.85
"""As alike as a name has to be to that of a tool to be a slip of the finger, and not the tool of another machine."""


class ToolsHere(Mapping[str, ToolFacts]):
    """What is known of tools here. Who names modules names all tools; else one may be known where the plan runs."""

    def __init__(self, addresses: tuple[str, ...]) -> None:
        self._tools = known_tools(addresses)
        self._is_all = bool(addresses)
        self._unknown: dict[str, None] = {}

    def __getitem__(self, name: str) -> ToolFacts:
        if name in self._tools:
            return self._tools[name].facts()
        if name in self._others:
            return self._others[name]
        if self._is_all or get_close_matches(name, self, 1, SLIP):
            raise KeyError(name)
        self._unknown[name] = None
        return ToolFacts()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._tools, *self._others)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @cached_property
    def _others(self) -> Mapping[str, ToolFacts]:
        """Tools of distributions and MCP servers. Nothing is imported or started; what is broken is for `doctor`."""
        found: dict[str, ToolFacts] = {}
        with suppress(PerdureError):
            found |= dict.fromkeys(offers_here().offers, ToolFacts())
        with suppress(PerdureError):
            found |= {tool.name: tool.facts() for tool, _ in approved_here()}
        return found

    def take_unknown(self) -> tuple[str, ...]:
        """The names that were asked for since the last time and are known nowhere here."""
        found = tuple(self._unknown)
        self._unknown.clear()
        return found
