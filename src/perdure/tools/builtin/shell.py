"""Running commands: always in the sandbox, always on a stage."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from perdure.core.calls import Repeat
from perdure.core.policy import Deed
from perdure.tools.builtin.bounds import Text
from perdure.tools.builtin.outward import connections, proxy_to
from perdure.tools.changes import take_back as undo
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.hands import Hands
from perdure.tools.sandbox.carrying import Errand, carried, have_judged
from perdure.tools.sandbox.collecting import refuse_unfit
from perdure.tools.sandbox.command import Bind, Command, Limits
from perdure.tools.sandbox.outlet import needed
from perdure.tools.tool import AnyTool, tool

SECONDS: Final = 600.0
"""For a command of a step that has no timeout."""
MARGIN: Final = 0.5
"""Seconds before a step's timeout at which its command is ended, so that what it said is not lost."""
OUTPUT: Final = 200_000
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Words = Annotated[list[str], Field(min_length=1, max_length=10_000)]
Hosts = Annotated[list[str], Field(max_length=100)]
Collect = Annotated[list[Annotated[str, Field(min_length=1, max_length=1_000)]], Field(max_length=20)]
Env = Annotated[dict[str, str], Field(max_length=1_000)]


def repeat_of(network: list[str] | None = None) -> Repeat:
    """What stays in the sandbox can be done again; what has left it cannot be called back."""
    return "never" if network else "safe"


def stays_inside(hands: Hands | None, network: list[str] | None = None) -> bool:
    """Whether all it does happens in the workspace, so that it can be rehearsed on a copy."""
    return not network and (hands is None or hands.is_walled)


def foresee(
    context: Context,
    command: list[str] | str,
    network: list[str] | None = None,
    env: dict[str, str] | None = None,
    collect: list[str] | None = None,
) -> None:
    """What is judged before it runs. What it then touches, nobody knows."""
    argv = _argv(command)
    _refuse_odd(argv, env or {}, collect or [])
    _ = proxy_to(context, network or [])
    have_judged(context, _deeds(argv, network or []))


@tool(
    name="shell.run",
    repeat=repeat_of,
    effects=["reads", "writes", "network"],
    judges=True,
    staged=stays_inside,
    foresee=foresee,
    undo=undo,
)
async def run(  # noqa: PLR0913  each is a word that plans may write
    command: Words | Annotated[str, Field(min_length=1, max_length=100_000)],
    context: Context,
    *,
    network: Hosts | None = None,
    env: Env | None = None,
    stdin: Text = "",
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None,
    check: bool = True,
    keep: bool = True,
    collect: Collect | None = None,
) -> dict[str, Any]:
    """Runs a command in the sandbox; what it changes in the workspace is kept if it ends well.

    Args:
        command: The program and its arguments, each a word; or a text for bash, which policy sees as one opaque whole.
        network: Hosts it may connect to, as `host:port`; without any there is no network.
        env: Variables of its environment; it has no others but PATH, HOME and the like.
        stdin: What it reads.
        seconds: How long it may take; if not said, as long as the step.
        check: Whether a code other than 0 is a failure.
        keep: Whether what it changes is kept, if it ends with code 0.
        collect: Files that it writes and whose text is given back, however it ends: paths, or patterns as `out/*.xml`.
    """
    argv = _argv(command)
    _refuse_odd(argv, env or {}, collect or [])
    wanted = network or []
    made = Command(
        argv,
        env={**(env or {}), "PERDURE_STEP_KEY": context.key},
        stdin=stdin.encode(),
        seconds=time_for(context, seconds),
        limits=Limits(output=OUTPUT),
        tier=context.hands.tier,
        network=proxy_to(context, wanted),
        binds=binds_for(context, python=bool(wanted)),
    )
    given = _deeds(argv, wanted)
    return await carried(context, Errand(made, argv[0], given, check, keep, collect=collect or []))


def _argv(command: list[str] | str) -> list[str]:
    return ["bash", "-c", command] if isinstance(command, str) else command


def _deeds(argv: list[str], network: list[str]) -> tuple[Deed, ...]:
    return (Deed("run", argv[0], tuple(argv)), *connections(network))


def time_for(context: Context, seconds: float | None) -> float:
    """How long a command may take: what was asked for, and no longer than its step."""
    left = context.seconds_left
    asked = seconds or (SECONDS if left is None else left)
    return asked if left is None else max(0.1, min(asked, left - MARGIN))


def binds_for(context: Context, *, python: bool) -> list[Bind]:
    """Toolchains that the user's own settings name, and what our Python needs if it is used inside."""
    return [*(needed() if python else []), *(Bind(each) for each in context.hands.toolchains)]


def _refuse_odd(argv: list[str], env: Mapping[str, str], collect: list[str]) -> None:
    refuse_unfit(collect)
    texts = [*argv, *env.values()]
    if any("\0" in each for each in texts):
        raise ToolFailure("invalid", "command: no word may hold a NUL character")
    if not argv[0] or argv[0].startswith("-"):
        raise ToolFailure("invalid", f"command: {argv[0]!r} is no program; write its name first, then its arguments")
    if odd := next((name for name in env if not _NAME.fullmatch(name)), None):
        raise ToolFailure("invalid", f"env: {odd!r} is no name of a variable; use letters, digits and _")


SHELL: Final[tuple[AnyTool, ...]] = (run,)
