"""Inputs and other values, as they are given on a command line."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

from perdure.plan.raw import is_mapping
from perdure.plan.visible import visible


def inputs_from(
    plan_inputs: Mapping[str, Any], pairs: Sequence[str], file: str | None, *, option: str = "-i"
) -> dict[str, Any]:
    """What `--inputs FILE` and `-i name=value` give, or whatever the option is called; the latter count more."""
    given = _from_file(file) if file else {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{visible(pair, 60)} is not of the form name=value", param_hint=option)
        given[name] = value_from(name, value, plan_inputs.get(name), option)
    return given


def _from_file(name: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(_text(name))
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{visible(name)} is not JSON: {error}", param_hint="--inputs") from error
    if not is_mapping(found):
        raise click.BadParameter(f"{visible(name)} does not hold an object", param_hint="--inputs")
    return cast("dict[str, Any]", found)


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or "it is not UTF-8"
        raise click.UsageError(f"cannot read {visible(name)}: {told}") from error


def value_from(name: str, text: str, schema: Any, option: str) -> Any:
    """A value as the input wants it: text where it is a text, else JSON; from a file after an `@`."""
    text = _text(text[1:]) if text.startswith("@") else text
    kinds = _kinds(schema)
    if kinds == {"string"}:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if not kinds or "string" in kinds:
            return text
        told = f"{name}={visible(text, 60)}: {' or '.join(sorted(kinds))} is wanted, and this is not JSON"
        raise click.BadParameter(told, param_hint=option) from error


def json_or_text(text: str) -> Any:
    """JSON, or else the text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _kinds(schema: Any) -> set[str]:
    """The types that a schema names; none: it does not say."""
    if not is_mapping(schema):
        return set()
    kind: Any = schema.get("type")
    named: list[Any] = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    return {each for each in named if isinstance(each, str)}
