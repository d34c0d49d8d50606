"""Running Python: in an interpreter of its own, in the sandbox, on a stage."""

import contextlib
import json
import os
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from perdure.core.policy import Deed
from perdure.tools.builtin.outward import connections, proxy_to
from perdure.tools.builtin.shell import OUTPUT, Hosts, binds_for, repeat_of, stays_inside, time_for, undo
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.sandbox.carrying import Errand, carried, have_judged
from perdure.tools.sandbox.command import Bind, Command, Limits
from perdure.tools.sandbox.outlet import interpreter
from perdure.tools.tool import AnyTool, tool

LARGEST: Final = 1_000_000
"""Bytes of a result."""
_STARTER: Final = Path(__file__).parents[1] / "sandbox" / "starter.py"
_AT: Final = Path("/run/perdure/starter.py")
Code = Annotated[str, Field(min_length=1, max_length=1_000_000)]


def _foresee(context: Context, code: str, network: list[str] | None = None) -> None:
    _ = proxy_to(context, network or [])
    have_judged(context, _deeds(code, network or []))


def _deeds(code: str, network: list[str]) -> tuple[Deed, ...]:
    return (Deed("run", "python", ("python", "-c", code)), *connections(network))


@tool(
    name="python.run",
    repeat=repeat_of,
    effects=["reads", "writes", "network"],
    judges=True,
    staged=stays_inside,
    foresee=_foresee,
    undo=undo,
)
async def run(  # noqa: PLR0913  each is a word that plans may write
    code: Code,
    context: Context,
    *,
    inputs: Any = None,
    network: Hosts | None = None,
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None,
    keep: bool = True,
) -> dict[str, Any]:
    """Runs Python code in the sandbox, with nothing but the standard library.

    Args:
        code: The code. What it assigns to `result` is given back, as JSON; what it prints is given beside it.
        inputs: What it finds as `inputs`.
        network: Hosts it may connect to, as `host:port`; without any there is no network.
        seconds: How long it may take; if not said, as long as the step.
        keep: Whether what it changes in the workspace is kept, if it ends well.
    """
    result = os.memfd_create("perdure-result", os.MFD_CLOEXEC)
    try:
        inside = _AT if context.hands.tier == "bwrap" else _STARTER
        wanted = network or []
        made = Command(
            [interpreter(), "-I", "-S", str(inside), str(result)],
            env={"PERDURE_STEP_KEY": context.key},
            stdin=json.dumps({"code": code, "inputs": inputs}).encode(),
            seconds=time_for(context, seconds),
            limits=Limits(output=OUTPUT),
            tier=context.hands.tier,
            network=proxy_to(context, wanted),
            binds=[*binds_for(context, python=True), Bind(_STARTER, _AT)],
            keep=[result],
        )
        given = _deeds(code, wanted)
        errand = Errand(made, "the code", given, keep=keep, more=lambda _: {"result": _read(result)})
        return await carried(context, errand)
    finally:
        os.close(result)


def _read(descriptor: int) -> Any:
    """What the code has left for us. It could write there whatever it liked."""
    text = os.pread(descriptor, LARGEST + 1, 0)
    if len(text) > LARGEST:
        raise ToolFailure("invalid", f"the result is larger than {LARGEST:,} bytes; write it into a file")
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text) if text else None
    raise ToolFailure("invalid", "the result is not JSON")


PYTHON: Final[tuple[AnyTool, ...]] = (run,)
