"""Tools that installed distributions offer, by entry points of the group `perdure.tools`.

An entry point has the name of its tool, so that looking for tools reads metadata and imports nothing. A tool is
imported when somebody wants that one. What is wrong with an offer spoils that offer alone.
"""

import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from typing import Final

from perdure.plan.model.parts import TOOL_PATTERN
from perdure.tools import builtin
from perdure.tools.errors import Duplicate, NotLoaded, ToolError
from perdure.tools.failure import kept
from perdure.tools.tool import AnyTool, is_tool

GROUP: Final = "perdure.tools"
Allowed = bool | Sequence[str]
"""Whose offers count: everybody's, nobody's, or those of these distributions."""


@dataclass(frozen=True)
class Offer:
    """A tool that a distribution says it has."""

    name: str
    address: str
    """`module:object`."""
    distribution: str
    version: str

    @property
    def origin(self) -> str:
        """Whose it is, for people."""
        return f"{self.distribution} {self.version} ({self.address})"

    def load(self) -> AnyTool:
        """Import it. `NotLoaded` says what is wrong, and with which distribution."""
        try:
            with _elsewhere():
                found = EntryPoint(self.name, self.address, GROUP).load()
        except (Exception, SystemExit) as error:
            why = kept(f"{type(error).__name__}: {error}".partition("\n")[0])
            raise NotLoaded(f'"{self.name}" cannot be loaded from {self.origin}: {why}', self._way_out) from error
        if is_tool(found) and found.name == self.name:
            return found
        what = f'the tool "{found.name}"' if is_tool(found) else "no tool"
        raise NotLoaded(f'"{self.name}" of {self.origin} is {what}', self._way_out)

    @property
    def _way_out(self) -> str:
        return f"install another version of {self.distribution}, or leave it out of `tools.entry_points` in policy.toml"


class Offers(Mapping[str, AnyTool]):
    """Tools of installed distributions, by name.

    Nothing is looked up before somebody asks, and nothing imported before somebody wants that very tool; then one that
    is refused or broken is a `ToolError`.
    """

    def __init__(self, allowed: Allowed | Callable[[], Allowed]) -> None:
        self._whose = allowed
        self._loaded: dict[str, AnyTool] = {}

    @cached_property
    def _found(self) -> "_Found":
        return _find(self._whose() if callable(self._whose) else self._whose)

    @property
    def offers(self) -> Mapping[str, Offer]:
        """What is offered, from metadata alone."""
        return self._found.offers

    @property
    def refusals(self) -> Mapping[str, ToolError]:
        """Offers that do not count, and why."""
        return self._found.refused

    @property
    def loaded(self) -> tuple[AnyTool, ...]:
        """Those that somebody wanted."""
        return tuple(self._loaded.values())

    def __getitem__(self, name: str) -> AnyTool:
        if refusal := self.refusals.get(name):
            raise refusal
        if name not in self._loaded:
            self._loaded[name] = self.offers[name].load()
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self.offers

    def __iter__(self) -> Iterator[str]:
        return iter(self.offers)

    def __len__(self) -> int:
        return len(self.offers)

    def load_all(self) -> tuple[ToolError, ...]:
        """Import all that can be had; what is wrong with the others."""
        flaws = list(self.refusals.values())
        for name in self:
            try:
                _ = self[name]
            except ToolError as error:
                flaws.append(error)
        return tuple(flaws)


# ------------------------------------------------------------------------------- metadata


@dataclass(frozen=True)
class _Found:
    offers: Mapping[str, Offer]
    refused: Mapping[str, ToolError]


def _find(allowed: Allowed) -> _Found:
    offers: dict[str, Offer] = {}
    refused: dict[str, ToolError] = {}
    for offer in _offered(allowed, refused):
        if refusal := _refusal(offer, offers):
            refused.setdefault(offer.name, refusal)
        else:
            offers[offer.name] = offer
    return _Found({name: each for name, each in offers.items() if name not in refused}, refused)


def _refusal(offer: Offer, offers: Mapping[str, Offer]) -> ToolError | None:
    if not re.fullmatch(TOOL_PATTERN, offer.name):
        hint = 'an entry point is named like its tool, a domain and a name, as in "http.get"'
        return NotLoaded(f'"{offer.name}" of {offer.origin} is no name for a tool', hint)
    if any(each.name == offer.name for each in (*builtin.BUILTIN, *builtin.HANDS)):
        return Duplicate(f'{offer.origin} offers "{offer.name}", which is built in', f"remove {offer.distribution}")
    if other := offers.get(offer.name):
        hint = "remove one of them, or name the other in `tools.entry_points` of policy.toml"
        return Duplicate(f'two distributions offer "{offer.name}": {other.origin} and {offer.origin}', hint)
    return None


def _offered(allowed: Allowed, refused: dict[str, ToolError]) -> Iterator[Offer]:
    for each in distributions(path=_paths()) if allowed is not False else ():
        try:
            offers = _offers_of(each)
        except Exception as error:  # noqa: BLE001  metadata is whatever somebody wrote
            why = kept(f"{type(error).__name__}: {error}".partition("\n")[0])
            refused[str(each)] = NotLoaded(f"the metadata of a distribution cannot be read: {why}", "install it again")
            continue
        if allowed is True or (offers and _plain(offers[0].distribution) in _plain_names(allowed)):
            yield from offers


def _offers_of(distribution: Distribution) -> list[Offer]:
    points = _points(distribution)
    if not points:
        return []
    name, version = str(distribution.metadata["Name"]), distribution.version
    if _points(next(iter(distributions(name=name, path=_paths())))) != points:
        return []  # another one of this name comes first on the path, and that is the one Python imports
    return [Offer(each.name, each.value, name, version) for each in points]


def _paths() -> list[str]:
    """Where Python finds modules, but for the current directory: what lies there may be a stranger's."""
    here = Path.cwd().resolve()
    return [each for each in sys.path if each and Path(each).resolve() != here]


@contextmanager
def _elsewhere() -> Generator[None]:
    """Import nothing from the current directory, which could have a module of the same name."""
    before = sys.path[:]
    sys.path[:] = _paths()
    try:
        yield
    finally:
        sys.path[:] = before


def _points(distribution: Distribution) -> list[EntryPoint]:
    return [each for each in distribution.entry_points if each.group == GROUP]


def _plain_names(names: Allowed) -> set[str]:
    return set(map(_plain, names)) if isinstance(names, Iterable) else set()


def _plain(name: str) -> str:
    """As installers compare names: `Perdure_Weather` is `perdure-weather`."""
    return re.sub(r"[-_.]+", "-", name).lower()
