"""`perdure policy`: what may be done, who says so, and what they would say about a deed."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

import click
from msgspec import to_builtins

from perdure.cli.arguments import limit_options, limits_from, usable
from perdure.cli.codes import FAILED, OK, WAITING
from perdure.cli.manners import known_tools, tools_option
from perdure.cli.printing import json_option, print_json, print_table
from perdure.cli.toolsets import approved_here
from perdure.config.policy import UserPolicy, load_policy
from perdure.core.layers import layers_at
from perdure.core.policy import Deed, DeedKind, Layer, Terms, judge, shown, strictest, told
from perdure.plan.index import Index
from perdure.plan.problems import did_you_mean
from perdure.plan.visible import visible

if TYPE_CHECKING:
    from perdure.tools import AnyTool

KINDS: Final = get_args(DeedKind)
_ABOUT: Final = {
    "files_read": "read", "files_write": "write", "network": "connect", "commands": "run", "tools": "call",
    "resources": "use", "effects": "effect",
}  # fmt: skip
_CODES: Final = {"allow": OK, "ask": WAITING, "deny": FAILED}
workspace_option = click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The directory that would be worked on; left out: this one.",
)
step_option = click.option("--step", metavar="ID", help="For this step; without it, for the plan as a whole.")


@click.group()
def policy() -> None:
    """What may be done: your own policy, the plan's, and those of its groups and steps. The strictest holds."""


@policy.command()
@click.argument("plan", required=False)
@step_option
@workspace_option
@json_option
@limit_options
def show(plan: str | None, step: str | None, as_json: bool, **settings: Any) -> None:
    """Show the layers of rules that hold here.

    The outermost comes first. With PLAN, also those of the plan. A layer says nothing about what it does not mention.
    """
    if step and not plan:
        raise click.UsageError("a step belongs to a plan: name it before --step")
    user, layers = _in_force(plan, step, settings, as_json=as_json)
    if as_json:
        print_json({"schema": "perdure.policy/1", **_user_document(user), "layers": to_builtins(layers)})
        return
    _say_origin(user)
    print_table(["layer", "about", "allow", "ask", "deny"], [row for layer in layers for row in _rows(layer)])


@policy.command()
@click.argument("plan")
@click.argument("deeds", nargs=-1, required=True, metavar="DEED…")
@step_option
@workspace_option
@tools_option
@json_option
@limit_options
@click.pass_context
def test(ctx: click.Context, plan: str, deeds: tuple[str, ...], step: str | None, as_json: bool, **given: Any) -> None:
    """Say whether a deed would be allowed, and why.

    For each DEED in PLAN: the verdict, the layer that gave it, and the reason. Nothing is done.

    A deed is a word and what it is about: 'read FILE', 'write FILE', 'connect HOST:PORT', 'run COMMAND',
    'use RESOURCE', 'call TOOL [EFFECT…]'.

    Exit code 0: all are allowed. 4: a person would be asked. 1: some are denied.
    """
    tools = {each.name: each for each, _ in approved_here()} | known_tools(given.pop("addresses"))
    asked = [_deed(text, tools) for text in deeds]
    user, layers = _in_force(plan, step, given, as_json=as_json)
    found = [judge(layers, deed) for deed in asked]
    if as_json:
        print_json({"schema": "perdure.judgements/1", **_user_document(user), "judgements": to_builtins(found)})
    else:
        rows = [(each.verdict, told(each.deed), each.by, each.why) for each in found]
        print_table(["verdict", "deed", "layer", "why"], rows)
    ctx.exit(_CODES[strictest(found)])


def _in_force(
    plan: str | None, step: str | None, settings: dict[str, Any], *, as_json: bool
) -> tuple[UserPolicy, tuple[Layer, ...]]:
    user = load_policy(settings["workspace"] or Path.cwd())
    if plan is None:
        return user, user.layers
    index = Index(usable(plan, limits_from(settings), as_json=as_json))
    node = index.root if step is None else index.by_id.get(step)
    if node is None:
        raise click.UsageError(
            visible(f'there is no step "{step}" in the plan; {did_you_mean(step or "", index.by_id)}')
        )
    return user, layers_at(node, user.layers)


# ------------------------------------------------------------------------------- reading deeds


def _deed(text: str, tools: "dict[str, AnyTool]") -> Deed:
    kind, _, rest = text.strip().partition(" ")
    if kind not in KINDS:
        raise click.UsageError(visible(f'"{text}" is no deed; {did_you_mean(kind, KINDS)}'))
    if kind == "run":
        words = _words(rest)
        return Deed("run", words[0] if words else "", words)
    if kind == "call":
        name, *effects = rest.split() or [""]
        return tools[name].deeds({})[0] if name in tools and not effects else Deed("call", name, tuple(effects))
    return Deed(cast("DeedKind", kind), rest.strip())


def _words(text: str) -> tuple[str, ...]:
    """Words as a shell would hand them over; nothing else of a shell is understood."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise click.UsageError(visible(f"{text!r} cannot be split into words: {error}")) from error


# ------------------------------------------------------------------------------- showing layers


def _say_origin(user: UserPolicy) -> None:
    whence = f"your policy: {user.place}" + (" (not there; the default holds)" if user.is_default else "")
    click.echo(visible(whence), err=True)
    if user.tier != "bwrap":
        click.echo(f"note: your policy lowers the sandbox to {user.tier}", err=True)


def _user_document(user: UserPolicy) -> dict[str, Any]:
    return {
        "file": str(user.place),
        "default": user.is_default,
        "sandbox": {"tier": user.tier, "binds": [str(each) for each in user.binds]},
        "secrets": str(user.secrets) if user.secrets else None,
        "entry_points": user.entry_points,
    }


def _rows(layer: Layer) -> Iterator[tuple[str, ...]]:
    """A row for each thing that a layer speaks of; one that says it is silent if there is none."""
    found = [(about, getattr(layer, field)) for field, about in _ABOUT.items()]
    spoken = [(about, terms) for about, terms in found if terms != Terms()]
    for about, terms in spoken:
        allowed = "" if terms.allow is None else _listed(terms.allow) or "nothing"
        yield layer.name, about, allowed, _listed(terms.ask), _listed(terms.deny)
    if not spoken:
        yield layer.name, "says nothing", "", "", ""


def _listed(patterns: tuple[Any, ...]) -> str:
    return ", ".join(map(shown, patterns))
