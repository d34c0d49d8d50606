"""`perdure models`: which models stand behind the tiers, and whether they answer."""

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Final

import click

from perdure.cli.codes import FAILED, OK
from perdure.cli.printing import json_option, print_json, print_table
from perdure.config import Loaded, load
from perdure.config.heads import models_of, places_of
from perdure.errors import PerdureError
from perdure.models.errors import NoModel
from perdure.models.places import Place
from perdure.models.tiers import CONFIGURE, TIERS, Models
from perdure.models.trying import Trial, tried
from perdure.plan.visible import money, visible
from perdure.ports import SCRIPT

MILLION: Final = 1_000_000


@click.group()
def models() -> None:
    """Models: `weak`, `default` and `strong` stand for what your settings say."""


@models.command()
@json_option
def ls(as_json: bool) -> None:
    """List the tiers and their models.

    For each: what it stands for, who says so, what a million tokens cost, and whether the key is there. No model is
    asked.
    """
    found = list(_tiers(load(planning=True)))
    if as_json:
        print_json({"schema": "perdure.models/1", "models": found})
        return
    rows = [
        (each["tier"], each["model"] or "not set", _price(each), _key(each), each["origin"] or "") for each in found
    ]
    print_table(["tier", "model", "usd per million in/out", "key", "from"], rows)


@models.command()
@click.argument("names", nargs=-1, metavar="[TIER]...")
@json_option
@click.pass_context
def check(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Ask a model for one word, to see whether it answers.

    TIER is a tier or a provider:model; left out: all tiers that are set.

    It is a real call, of some fifty tokens, and is paid like one. The exit code is 1 if one of them gives no answer.
    """
    found = load(planning=True)
    wanted = names or tuple(each for each in TIERS if each in found.settings.heads.tiers)
    if not wanted:
        raise NoModel("no model is set", CONFIGURE)
    trials = asyncio.run(_tried(found, wanted))
    if as_json:
        print_json({"schema": "perdure.models.check/1", "models": [each.data() for each in trials]})
    else:
        print_table(["model", "", "seconds", "tokens in/out", "usd", "JSON by schema"], map(_row, trials))
    ctx.exit(OK if all(each.answered for each in trials) else FAILED)


async def _tried(found: Loaded, names: tuple[str, ...]) -> list[Trial]:
    asked = models_of(found.settings.heads)
    try:
        return [await tried(asked, each, found.settings.heads.tiers.get(each, each)) for each in names]
    finally:
        await asked.close()


# ------------------------------------------------------------------------------- rows


def _tiers(found: Loaded) -> Iterator[dict[str, Any]]:
    heads = found.settings.heads
    for tier in TIERS:
        model = heads.tiers.get(tier, heads.tiers.get("default", ""))
        set_as = tier if tier in heads.tiers else "default"
        origin = found.origins.get(f"models.{set_as}")
        about = _about(found, model) if model else {"problem": CONFIGURE}
        yield {"tier": tier, "model": model or None, "origin": origin, **about}


def _about(found: Loaded, model: str) -> dict[str, Any]:
    if model.startswith(SCRIPT):
        return _script(model)
    provider, _, name = model.partition(":")
    try:
        place = places_of(found.settings.heads).find(provider)
    except PerdureError as error:
        return {"problem": f"{error.message}; {error.help}"}
    return {"url": place.url or None, "usd_per_million": _prices(place, name), **_keys(place)}


def _script(model: str) -> dict[str, Any]:
    try:
        Models({"default": model}).find("default")
    except PerdureError as error:
        return {"problem": f"{error.message}; {error.help}"}
    return {"url": None, "usd_per_million": [0.0, 0.0], "key": None, "key_is_set": False}


def _keys(place: Place) -> dict[str, Any]:
    try:
        place.key()
    except PerdureError:
        return {"key": place.keys[0], "key_is_set": False}
    return {"key": place.keys[0] if place.keys else None, "key_is_set": bool(place.keys)}


def _prices(place: Place, name: str) -> list[float] | None:
    is_said = place.own_price(name, 0, 0) is not None
    if not is_said and not place.is_here and find_spec("genai_prices") is None:
        return None
    from perdure.models.provider import ProviderModel  # noqa: PLC0415  only where something is set

    asked = ProviderModel(place, name)
    found = [asked.price(MILLION, 0), asked.price(0, MILLION)]
    return None if None in found else [each or 0.0 for each in found]


def _price(found: dict[str, Any]) -> str:
    prices = found.get("usd_per_million")
    return "unknown" if prices is None else "/".join(f"{each:g}" for each in prices)


def _key(found: dict[str, Any]) -> str:
    if "problem" in found:
        return str(found["problem"])
    if found["key"] is None:
        return "none needed"
    return f"{found['key']} {'is set' if found['key_is_set'] else 'is not set'}"


def _row(trial: Trial) -> tuple[str, ...]:
    name = trial.name if trial.name == trial.model else f"{trial.name} ({trial.model})"
    if not trial.answered:
        return (name, visible(trial.problem), "", "", "", "")
    usd = "unknown" if trial.usd is None else money(trial.usd)
    tokens = f"{trial.tokens_in}/{trial.tokens_out}"
    return (name, "answers", f"{trial.seconds:.2f}", tokens, usd, trial.form)
