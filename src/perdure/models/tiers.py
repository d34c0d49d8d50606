"""Which model is meant: a tier by what is configured, or one by its own name."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from perdure.models.errors import NoModel, NotNamed
from perdure.plan.model.parts import TIERS
from perdure.plan.problems import did_you_mean
from perdure.ports import SCRIPT, Model

if TYPE_CHECKING:
    from perdure.models.places import Places
    from perdure.models.provider import ProviderModel
    from perdure.models.scripted import ScriptedModel

CONFIGURE: Final = 'write `default = "provider:model"` under [models] in your config.toml, or set PERDURE_MODEL'


class Models:
    """Models by tier or name. One that is named by a text is made when it is first asked.

    `places` say who may be asked, or how to find out; without them, the providers that are named here.
    """

    def __init__(self, named: Mapping[str, Model | str], places: "Places | Callable[[], Places] | None" = None) -> None:
        self._named: Final = dict(named)
        self._places = places
        self._made: Final[dict[str, ProviderModel]] = {}
        self._scripts: Final[dict[str, ScriptedModel]] = {}

    def __bool__(self) -> bool:
        return bool(self._named)

    @property
    def named(self) -> Mapping[str, str]:
        """By tier, what each stands for; one of somebody's own is told by its kind."""
        return {tier: each if isinstance(each, str) else type(each).__name__ for tier, each in self._named.items()}

    def find(self, name: str) -> Model:
        """A model by its tier or its name. `NoModel` if there is none."""
        found = self._named.get(name)
        if found is None and name in TIERS:
            found = self._named.get("default")
        if found is None:
            return self._by_name(name)
        if not isinstance(found, str):
            return found
        return self._script(found) if found.startswith(SCRIPT) else self._by_name(found)

    async def close(self) -> None:
        """Let go of connections."""
        for each in self._made.values():
            await each.close()

    def _script(self, name: str) -> Model:
        """Answers from a file: read once, so that it says the same as long as it is asked."""
        if name not in self._scripts:
            from perdure.models.scripted import ScriptedModel  # noqa: PLC0415  few engines play by a script

            self._scripts[name] = ScriptedModel.from_file(name.removeprefix(SCRIPT))
        return self._scripts[name]

    def _by_name(self, name: str) -> Model:
        if name.startswith(SCRIPT):
            told = "a plan cannot choose what a model says: a script is yours to name"
            raise NotNamed(told, f'write `model: default`, and set PERDURE_MODEL="{name}"')
        if name in TIERS:
            raise NoModel(f"no model is set for {name!r}", CONFIGURE)
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
