"""Letting a process in the background drive a run: it owns the journal, and lives on when its parent has left."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, ClassVar

import click

from perdure.cli.driving import NOT_HERE, Manner, NotThere, carry_out
from perdure.cli.jobs import Job, job_of
from perdure.cli.journals import settings_for
from perdure.cli.manners import all_tools_from
from perdure.cli.printing import print_json
from perdure.cli.reaching import ask_owner
from perdure.cli.toolsets import toolset_here
from perdure.config import Settings
from perdure.control import NoOwner, OwnerRefused
from perdure.errors import HandedOn, PerdureError
from perdure.plan.visible import visible


class NotDetached(HandedOn):
    """The process in the background ended before the run had begun, or said why it cannot."""

    code: ClassVar[str] = "PRD3105"


# ------------------------------------------------------------------------------- the one that leaves


def detach(manner: Manner, job: Job) -> None:
    """Have a run begun or carried on elsewhere; print its id."""
    run, pid = asyncio.run(detached(manner, job))
    if manner.as_json:
        print_json({"schema": "perdure.detached/1", "id": run, "pid": pid})
        return
    click.echo(run)
    log = log_of(manner.settings)
    who = "the process that has the journal" if pid is None else f"process {pid}; its log is {log}"
    click.echo(visible(f"driven by {who}"), err=True)


async def detached(manner: Manner, job: Job) -> tuple[str, int | None]:
    """Have it done elsewhere: the run, and the process that was started for it; None: the journal had an owner."""
    try:
        return await _by_owner(manner.settings, job), None
    except NoOwner:
        return await asyncio.to_thread(_spawn, manner, job)


async def _by_owner(settings: Settings, job: Job) -> str:
    try:
        done = (await ask_owner(settings, job.request())).done
    except OwnerRefused as refusal:
        if refusal.code not in NOT_HERE:
            raise
        told = f"the process that has the journal cannot carry this out: {refusal.message}"
        raise NotThere(told, "wait until it has left, or name another journal with --db") from refusal
    return done if isinstance(done, str) else done[0]


def log_of(settings: Settings) -> Path:
    """Where processes in the background say what they do."""
    return settings.db.with_name(f"{settings.db.name}.log")


def _spawn(manner: Manner, job: Job) -> tuple[str, int]:
    settings = manner.settings
    hear, tell = os.pipe()
    try:
        process = _started(settings, tell)
    finally:
        os.close(tell)
    with os.fdopen(hear, "rb") as told:
        _hand_over(process, _order(manner, job))
        line = told.readline()
    try:
        return _heard(line, settings), process.pid
    except NotDetached:
        process.wait()  # it has said all it had to say, and leaves
        raise


def _order(manner: Manner, job: Job) -> dict[str, Any]:
    place = "" if manner.workspace is None else str(manner.workspace)
    where = {"db": str(manner.settings.db), "network": manner.settings.network_disk}
    return {"job": dict(job.request()), "tools": manner.addresses, "workspace": place, **where}


def _started(settings: Settings, tell: int) -> "subprocess.Popen[bytes]":
    settings.db.parent.mkdir(parents=True, exist_ok=True)
    log = os.open(log_of(settings), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(  # noqa: S603  this program itself
            [sys.executable, "-P", "-m", "perdure.cli.detaching", str(tell)],
            stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=[tell], start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(log)


def _hand_over(process: "subprocess.Popen[bytes]", order: Mapping[str, Any]) -> None:
    """Through a pipe, because a command line can be read by others."""
    assert process.stdin is not None  # noqa: S101  a pipe was asked for
    with suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(json.dumps(order).encode())


def _heard(line: bytes, settings: Settings) -> str:
    if not line:
        hint = f"its log says why: {log_of(settings)}"
        raise NotDetached("the process in the background ended before the run had begun", hint)
    told = json.loads(line)
    if "error" in told:
        raise NotDetached(**told["error"])
    return told["run"]


# ------------------------------------------------------------------------------- the one that stays


def main() -> None:
    """Take an order from standard input, say the run's id through the pipe, and drive the run to its end."""
    with os.fdopen(int(sys.argv[1]), "wb") as tell:
        try:
            order = json.loads(sys.stdin.buffer.read())
            code = _carry_out(order, tell)
        except PerdureError as error:
            _tell(tell, {"error": _as_data(error)})
            click.echo(f"error {error.code}: {visible(error.message)}", err=True)
            code = error.exit_code
    sys.exit(code)


def _carry_out(order: Mapping[str, Any], tell: IO[bytes]) -> int:
    settings = settings_for(order["db"], network_disk=order["network"])  # here, whatever the environment says
    addresses = tuple(order["tools"])

    def begun(run: str) -> None:
        _tell(tell, {"run": run})
        click.echo(f"run {run} is driven by process {os.getpid()}", err=True)

    place = Path(order["workspace"]) if order["workspace"] else None
    manner = Manner(settings, all_tools_from(addresses), addresses, toolset_here(), place, wait=True, begun=begun)
    return asyncio.run(carry_out(job_of(order["job"]), manner))


def _tell(tell: IO[bytes], told: Mapping[str, Any]) -> None:
    """Once; whoever listened may have left."""
    if not tell.closed:
        with suppress(OSError):
            tell.write(json.dumps(told).encode() + b"\n")
            tell.close()


def _as_data(error: PerdureError) -> dict[str, Any]:
    return {"message": error.message, "help": error.help, "code": error.code, "exit_code": error.exit_code}


if __name__ == "__main__":
    main()
