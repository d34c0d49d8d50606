"""Which model is meant: a tier by what is configured, or one by its own name."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from perdure.models.errors import NoModel
from perdure.plan.problems import did_you_mean
from perdure.ports import Model

if TYPE_CHECKING:
    from perdure.models.places import Places
    from perdure.models.provider import ProviderModel

TIERS: Final = ("weak", "default", "strong")
"""Models by what they are for, not by their names."""
CONFIGURE: Final = 'write `default = "provider:model"` under [models] in your config.toml, or set PERDURE_MODEL'


class Models:
    """Models by tier or name. One that is named by a text is made when it is first asked.

    `places` say who may be asked, or how to find out; without them, the providers that are named here.
    """

    def __init__(self, named: Mapping[str, Model | str], places: "Places | Callable[[], Places] | None" = None) -> None:
        self._named: Final = dict(named)
        self._places = places
        self._made: Final[dict[str, ProviderModel]] = {}

    def __bool__(self) -> bool:
        return bool(self._named)

    def find(self, name: str) -> Model:
        """A model by its tier or its name. `NoModel` if there is none."""
        found = self._named.get(name)
        if found is None and name in TIERS:
            found = self._named.get("default")
        if found is None:
            return self._by_name(name)
        return self._by_name(found) if isinstance(found, str) else found

    async def close(self) -> None:
        """Let go of connections."""
        for each in self._made.values():
            await each.close()

    def _by_name(self, name: str) -> Model:
        if ":" not in name:
            raise NoModel(f"there is no model for {name!r}", _meant(name, self._named))
        if name not in self._made:
            from perdure.models.provider import model_by_name  # noqa: PLC0415  most engines ask no provider

            self._made[name] = model_by_name(name, self._who())
        return self._made[name]

    def _who(self) -> "Places":
        from perdure.models.places import Places  # noqa: PLC0415  as above

        if callable(self._places):
            self._places = self._places()
        if self._places is None:
            texts = [each for each in self._named.values() if isinstance(each, str)]
            # Models of somebody's own are named, too: then no provider is, and none may be asked.
            named = {each.partition(":")[0] for each in texts} or {"" for _ in self._named}
            self._places = Places(named=named)
        return self._places


def _meant(name: str, named: Mapping[str, Model | str]) -> str:
    """What to write instead; where a tier is meant, there is nothing to be found that it could stand for."""
    return CONFIGURE if name in TIERS else did_you_mean(name, (*TIERS, *named)) or CONFIGURE
