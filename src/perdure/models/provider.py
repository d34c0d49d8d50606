"""Models of providers, by `provider:model`. The library that speaks with them is loaded when one is first asked."""

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from perdure.models.errors import NoModel
from perdure.models.places import LIBRARY, Place, Places
from perdure.ports import Answer, Request

if TYPE_CHECKING:
    from perdure.models.direct import Direct


def model_by_name(name: str, places: Places | None = None) -> "ProviderModel":
    """A model by its name. `NoModel` if it cannot be reached from here, with what to do about it."""
    provider, _, model = name.partition(":")
    if not provider or not model.strip() or not model.isprintable():
        raise NoModel(f"{name!r} names no model", "write provider:model, as in openai:gpt-5-mini")
    place = (places or Places()).find(provider)
    _check_installed(place, name)
    place.key()
    return ProviderModel(place, model)


def _check_installed(place: Place, name: str) -> None:
    extra, module = place.needs
    if not (_is_there(LIBRARY) and _is_there(module)):
        raise NoModel(f"what speaks with {name} is not installed", f"pip install '{extra}'")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # what it is a part of is not there
        return False


class ProviderModel:
    """One model of a provider. Its connections stay open from one call to the next, until it is closed."""

    def __init__(self, place: Place, name: str) -> None:
        self.place: Final = place
        self.name: Final = name
        self._line: Direct | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: Request, heard: Callable[[str], None]) -> Answer:
        """Ask it once, and tell what it says as it comes."""
        make = await asyncio.to_thread(_load) if self._line is None else _load()  # it takes a second, once
        return await self._open(make).ask(request, heard)

    def _open(self, make: "type[Direct]") -> "Direct":
        """The line, the same for all who ask at once. Connections belong to their loop."""
        loop = asyncio.get_running_loop()
        if self._line is None or self._loop is not loop:
            self._line, self._loop = make(self.place, self.name), loop
        return self._line

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """What a call would cost: as the user says, else by the list. Here: nothing, as nobody sends a bill."""
        own = self.place.own_price(self.name, tokens_in, tokens_out)
        if own is not None or self.place.is_here:
            return own or 0.0
        from perdure.models.prices import price_of  # noqa: PLC0415  it has a list of all prices

        return price_of(self.place, self.name, tokens_in, tokens_out)

    async def close(self) -> None:
        """Let go of the connections; the next call makes new ones."""
        line, self._line = self._line, None
        if line is not None and self._loop is asyncio.get_running_loop():
            await line.close()


def _load() -> "type[Direct]":
    from perdure.models.direct import Direct  # noqa: PLC0415  heavy

    return Direct
