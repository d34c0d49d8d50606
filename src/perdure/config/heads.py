"""The user's providers of models: where they are, and what an engine is told of them.

A server that a provider's table names is sent all that models are asked. So it is read from a file that nobody but the
user can have written, or from the environment; a project has no say in it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from perdure.config.owned import read_owned
from perdure.config.settings import PROVIDERS, Heads, SettingValueError
from perdure.config.values import Said

if TYPE_CHECKING:
    from perdure.models import Models
    from perdure.models.places import Place, Places


def providers_in(said: Mapping[str, Said]) -> Mapping[str, Mapping[str, str]]:
    """Words by provider. `SettingValueError` if one cannot be meant."""
    found: dict[str, dict[str, str]] = {}
    for name, each in said.items():
        provider, _, word = name.rpartition(".")
        found.setdefault(provider, {})[word] = str(each.value)
    for provider, words in found.items():
        origin = next(each.origin for name, each in said.items() if name.startswith(f"{provider}."))
        _check(provider, words, origin)
    return found


def _check(provider: str, words: Mapping[str, str], origin: str) -> None:
    from perdure.models.places import flaw_of  # noqa: PLC0415  most describe none

    if Path(origin).is_absolute():
        read_owned(Path(origin))
    if flaw := flaw_of(provider, words.get("url", ""), words.get("key", "")):
        hint = 'write url = "http://localhost:8080/v1", and key = "NAME_OF_A_VARIABLE" if it wants a key'
        raise SettingValueError(f"{origin}: {PROVIDERS}.{provider}: {flaw}", hint)


def places_of(heads: Heads) -> "Places":
    """Who may be asked: what the user has described, and the providers of the models that the user has set."""
    from perdure.models.places import Places  # noqa: PLC0415  only where somebody is asked

    return Places([_place(name, words) for name, words in heads.providers.items()], heads.named)


def _place(provider: str, words: Mapping[str, str]) -> "Place":
    from perdure.models.places import KNOWN, Place  # noqa: PLC0415  as above

    key, url = words.get("key", ""), words.get("url", "")
    known = KNOWN[provider].keys if provider in KNOWN and not url else ()
    return Place(provider, url, (key,) if key else known)


def models_of(heads: Heads) -> "Models":
    """The models of an engine."""
    from perdure.models import Models  # noqa: PLC0415  who only looks at settings needs none

    return Models(heads.tiers, lambda: places_of(heads))
