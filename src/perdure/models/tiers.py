"""Which model is meant: a tier by what is configured, or one by its own name."""

from collections.abc import Mapping
from typing import ClassVar, Final

from perdure.errors import PerdureError
from perdure.plan.problems import did_you_mean
from perdure.ports import Model

TIERS: Final = ("weak", "default", "strong")
"""Models by what they are for, not by their names."""
CONFIGURE: Final = 'write `default = "provider:model"` under [models] in your config.toml, or set PERDURE_MODEL'


class NoModel(PerdureError):
    """A model is wanted, and there is none."""

    code: ClassVar[str] = "PRD4001"
    exit_code: int = 6


class Models:
    """Models by tier or name. One that is named by a text is made when it is first asked."""

    def __init__(self, named: Mapping[str, Model | str]) -> None:
        self._named: Final = dict(named)
        self._made: Final[dict[str, Model]] = {}

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

    def _by_name(self, name: str) -> Model:
        if ":" not in name:
            raise NoModel(f"there is no model for {name!r}", did_you_mean(name, (*TIERS, *self._named)) or CONFIGURE)
        if name not in self._made:
            from perdure.models.provider import model_by_name  # noqa: PLC0415  it loads a provider's library

            self._made[name] = model_by_name(name)
        return self._made[name]
