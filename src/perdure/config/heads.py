"""The user's providers of models: where they are, and what an engine is told of them.

A server that a provider's table names is sent all that models are asked. So it is read from a file that nobody but the
user can have written, or from the environment; a project has no say in it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from perdure.config.owned import read_owned
from perdure.config.settings import PRICE_WORDS, PRICES, PROVIDERS, Heads, SettingValueError
from perdure.config.values import Said

if TYPE_CHECKING:
    from perdure.models import Models
    from perdure.models.places import Place, Places


def providers_in(said: Mapping[str, Said]) -> Mapping[str, Mapping[str, str]]:
    """Words by provider. `SettingValueError` if one cannot be meant."""
    found: dict[str, dict[str, str]] = {}
    for name, each in said.items():
        provider, _, word = name.partition(".")
        found.setdefault(provider, {})[word] = str(each.value)
    for provider, words in found.items():
        origin = next(each.origin for name, each in said.items() if name.startswith(f"{provider}."))
        _check(provider, words, origin)
    return found


def _check(provider: str, words: Mapping[str, str], origin: str) -> None:
    from perdure.models.places import flaw_of  # noqa: PLC0415  most describe none

    if Path(origin).is_absolute():
        read_owned(Path(origin))
    if alone := sorted({_model_of(word) for word in words if word.startswith(PRICES)} - _priced(words).keys()):
        hint = f"write `in` and `out` under [{PROVIDERS}.{provider}.{PRICES}.{alone[0]!r}]"
        raise SettingValueError(f"{origin}: {PROVIDERS}.{provider}: {alone[0]} has one price, and not two", hint)
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
    return Place(provider, url, (key,) if key else known, tuple(_priced(words).items()))


def _priced(words: Mapping[str, str]) -> Mapping[str, tuple[float, float]]:
    """What a million tokens cost, in and out, by model; those of which both is said."""
    names = dict.fromkeys(_model_of(word) for word in words if word.startswith(PRICES))
    found = {name: [words.get(f"{PRICES}.{name}.{way}") for way in PRICE_WORDS] for name in names}
    return {name: (float(first), float(last)) for name, (first, last) in found.items() if first and last}


def _model_of(word: str) -> str:
    return word.removeprefix(f"{PRICES}.").rpartition(".")[0]


def models_of(heads: Heads) -> "Models":
    """The models of an engine."""
    from perdure.models import Models  # noqa: PLC0415  who only looks at settings needs none

    return Models(heads.tiers, lambda: places_of(heads))
