"""`perdure tools`: what plans may use, and all that is declared about it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from perdure.cli.codes import NOT_FOUND
from perdure.cli.manners import known_tools, offers_here, tools_option
from perdure.cli.printing import json_option, print_json, print_table
from perdure.cli.toolsets import approved_here
from perdure.documents.tools import tool_document, tools_document
from perdure.plan.problems import did_you_mean
from perdure.plan.visible import visible
from perdure.tools import AnyTool
from perdure.tools.describing import described, in_words
from perdure.tools.errors import NotLoaded
from perdure.tools.offers import Offers
from perdure.tools.rules import rule_of


@click.group()
def tools() -> None:
    """Tools: built in, of modules that you name, of installed distributions, of MCP servers that you approved."""


@tools.command()
@tools_option
@json_option
def ls(addresses: tuple[str, ...], as_json: bool) -> None:
    """List the tools.

    Those of installed distributions are known by their metadata, and none of them is imported. Those of MCP servers are
    known as you have approved them, and no server is started.
    """
    known, offers = known_tools(addresses), offers_here()
    found = [*map(described, known.values()), *_offered(offers, known), *_approved(known)]
    found.sort(key=lambda each: each["name"])
    if as_json:
        print_json(tools_document(found, offers.refusals.values()))
        return
    rows = [(each["name"], each.get("repeat", "?"), _effects(each), each["origin"], each["summary"]) for each in found]
    print_table(["tool", "repeat", "effects", "from", ""], rows)
    for flaw in offers.refusals.values():
        click.echo(visible(f"warning {flaw.code}: {flaw.message}; {flaw.help}"), err=True)


@tools.command()
@click.argument("name")
@tools_option
@json_option
def show(name: str, addresses: tuple[str, ...], as_json: bool) -> None:
    """Show all that is declared about the tool NAME. It is imported, and not called; no MCP server is started."""
    found = _document(name, addresses)
    if as_json:
        print_json(tool_document(found))
        return
    for word, text in _lines(found):
        click.echo(f"{word:12}{visible(text)}".rstrip())


def _document(name: str, addresses: tuple[str, ...]) -> dict[str, Any]:
    known, offers = known_tools(addresses), offers_here()
    if name in known:
        return described(known[name])
    if name in offers.refusals or name in offers:
        return described(offers[name], f"{offers.offers[name].origin}")
    pinned = {each["name"]: each for each in _approved(known)}
    if name in pinned:
        return pinned[name]
    hint = did_you_mean(name, [*known, *offers, *pinned]) or "see: perdure tools ls, perdure mcp ls"
    error = NotLoaded(f'there is no tool "{name}"', hint)
    error.exit_code = NOT_FOUND
    raise error


def _offered(offers: Offers, known: Mapping[str, AnyTool]) -> Iterator[dict[str, Any]]:
    for name, offer in offers.offers.items():
        if name not in known:
            yield {"name": name, "origin": offer.origin, "summary": "", "loaded": False}


def _approved(known: Mapping[str, AnyTool]) -> Iterator[dict[str, Any]]:
    """Models read what tools say of themselves, so it is what a person has read first."""
    for tool, standing in approved_here():
        if tool.name not in known:
            changed = " (blocked: its server describes it differently now)" if standing == "changed" else ""
            yield described(tool, f"{tool.declared.origin}{changed}")


def _effects(found: Mapping[str, Any]) -> str:
    told = ", ".join(found.get("effects", ("?",)))
    return f"{told} (assumed)" if found.get("assumed") and told else told or "none"


# ------------------------------------------------------------------------------- one tool in lines


def _lines(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "tool", found["name"]
    yield "", found["summary"]
    yield "from", found["origin"]
    yield from _arguments(found)
    yield "returns", in_words(found["returns"]) if found["returns"] else "whatever it gives"
    yield "repeat", _REPEATS[found["repeat"]] + (", but it is asked first (probe)" if found["probe"] else "")
    yield "effects", _effects(found)
    yield "undo", _undo(found)
    for word in ("reads", "writes", "hosts", "resources"):
        if found[word]:
            yield word, ", ".join(found[word])
    if found["judges"]:
        yield "judged", "by itself, file by file and host by host, when it knows what it is about to touch"
    for word in ("skills", "requires", "achieves"):
        if found[word]:
            yield word, ", ".join(found[word])
    for n, each in enumerate(found["failures"]):
        yield "" if n else "failures", rule_of(each).text
    yield from _amounts(found)
    yield "definition", found["definition"]


_REPEATS = {
    "safe": "safe: after a crash it is called again",
    "keyed": "keyed: after a crash it is called again with the same key",
    "never": "never: after a crash a person is asked",
    "by arguments": "by arguments: what follows after a crash depends on them",
}


def _arguments(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not found["arguments"]:
        yield "arguments", "none"
    for n, each in enumerate(found["arguments"]):
        must = "required" if each["required"] else f"default {json.dumps(each['default'], ensure_ascii=False)}"
        meaning = f": {each['meaning']}" if each["meaning"] else ""
        yield "" if n else "arguments", f"{each['name']} ({each['type']}, {must}){meaning}"


def _undo(found: Mapping[str, Any]) -> str:
    if found["undo"]:
        return "it can be taken back"
    return "not needed: nothing that it does is irreversible" if found["reversible"] else "it cannot be taken back"


def _amounts(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    estimate = [f"{amount:g} {word}" for word, amount in found["estimate"].items()]
    limits = [f"{found[word]:g} {what}" for word, what in (("limit", "at once"), ("timeout", "seconds")) if found[word]]
    if estimate:
        yield "estimate", ", ".join(estimate)
    if limits:
        yield "limits", ", ".join(limits)
    if found["isolate"]:
        yield "runs", "in a process of its own"
