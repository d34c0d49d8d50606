"""Where providers are, and which of them may be asked.

What a model is asked leaves the machine. So a provider is the user's to name, in a setting or in a program; a plan may
choose among those. Where nobody names any, those may be asked that the environment has a key for.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from perdure.models.errors import NoKey, NoModel, NotNamed
from perdure.plan.problems import did_you_mean


class Known(NamedTuple):
    """A provider whose address need not be said."""

    keys: tuple[str, ...]
    """Variables that its key may be in."""
    extra: str
    """What to install for it."""
    module: str
    """What is there when that is installed."""


_OPENAI: Final = ("perdure[openai]", "openai")
KNOWN: Final = {
    "anthropic": Known(("ANTHROPIC_API_KEY",), "perdure[anthropic]", "anthropic"),
    "cerebras": Known(("CEREBRAS_API_KEY",), *_OPENAI),
    "deepseek": Known(("DEEPSEEK_API_KEY",), *_OPENAI),
    "fireworks": Known(("FIREWORKS_API_KEY",), *_OPENAI),
    "google": Known(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "pydantic-ai-slim[google]", "google.genai"),
    "mistral": Known(("MISTRAL_API_KEY",), "pydantic-ai-slim[mistral]", "mistralai"),
    "moonshotai": Known(("MOONSHOTAI_API_KEY",), *_OPENAI),
    "openai": Known(("OPENAI_API_KEY",), *_OPENAI),
    "openai-chat": Known(("OPENAI_API_KEY",), *_OPENAI),
    "openrouter": Known(("OPENROUTER_API_KEY",), *_OPENAI),
    "together": Known(("TOGETHER_API_KEY",), *_OPENAI),
}
"""Others are reached by their address, if they understand what OpenAI's clients say, as nearly all do."""
LIBRARY: Final = "pydantic_ai"
ANY: Final = "*"
"""Stands for models whose price is not said."""
MILLION: Final = 1_000_000
_WORD: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a provider is reached, and which variable has the key."""

    provider: str
    url: str = ""
    """Empty: where the provider is for everybody."""
    keys: tuple[str, ...] = ()
    """Variables of the environment, the first that is set counts; none: no key is needed."""

    prices: tuple[tuple[str, tuple[float, float]], ...] = ()
    """US dollars for a million tokens, in and out, by model; `*`: of all others. They count before the list."""

    def own_price(self, model: str, tokens_in: int, tokens_out: int) -> float | None:
        """What the user says that a call costs; None: nothing is said of it."""
        said = dict(self.prices)
        price = said.get(model, said.get(ANY))
        return None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / MILLION

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine, and nobody sends a bill."""
        return bool(self.url) and _is_loopback(self.url)

    @property
    def needs(self) -> tuple[str, str]:
        """What to install for it, and the module that is there then."""
        known = KNOWN[self.provider] if not self.url else None
        return (known.extra, known.module) if known else _OPENAI

    def key(self, env: Mapping[str, str] | None = None) -> str:
        """Its key; empty if it takes none. `NoKey` names the variable that is not set."""
        env = os.environ if env is None else env
        found = next((env[each] for each in self.keys if env.get(each)), "")
        if self.keys and not found:
            raise NoKey(
                f"there is no key for {self.provider}: {' or '.join(self.keys)} is not set",
                f"export {self.keys[0]}=…; it stays in the environment, and is never written anywhere",
            )
        return found


def flaw_of(provider: str, url: str, key: str) -> str:
    """What is wrong with the words that describe a place; empty if nothing is."""
    if not _WORD.fullmatch(provider):
        return "the name of a provider is small letters, digits, - and _"
    if key and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
        return "`key` is the name of a variable, never the key itself"
    if not url:
        return "" if provider in KNOWN else "it has no `url`"
    return _flaw_of_url(url, is_keyed=bool(key))


def _flaw_of_url(url: str, *, is_keyed: bool) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "`url` is no address"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return "`url` begins with http:// or https://"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "`url` has a name, a password or a query in it; a key belongs into the environment"
    if is_keyed and parts.scheme == "http" and not _is_loopback(url):
        return "a key is sent over https:// only, unless the server is on this machine"
    return ""


def _is_loopback(url: str) -> bool:
    from ipaddress import ip_address  # noqa: PLC0415  as costly as the rest of this file

    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Places:
    """Who may be asked."""

    def __init__(self, described: Iterable[Place] = (), named: Iterable[str] = ()) -> None:
        self._described: Final = {each.provider: each for each in described}
        self._named: Final = frozenset(named) | self._described.keys()
        """Providers that the user has named; none: all that there is a key for."""

    def find(self, provider: str) -> Place:
        """Where a provider is. `NoModel` if nobody knows, `NotNamed` if it is not for a plan to choose."""
        if provider in self._described:
            return self._described[provider]
        if provider not in KNOWN:
            raise self._unknown(provider)
        if self._named and provider not in self._named:
            named = ", ".join(sorted(filter(None, self._named))) or "models of your own"
            raise NotNamed(
                f"{provider} is asked, and you named only {named}",
                f'if it may be, write `key = "{KNOWN[provider].keys[0]}"` under [providers.{provider}] in your config',
            )
        return Place(provider, keys=KNOWN[provider].keys)

    def _unknown(self, provider: str) -> NoModel:
        hint = did_you_mean(provider, (*KNOWN, *self._described))
        how = f'write `url = "https://…/v1"` under [providers.{provider}] in your config.toml'
        return NoModel(f"there is no provider {provider!r}", f"{hint}; or {how}")
