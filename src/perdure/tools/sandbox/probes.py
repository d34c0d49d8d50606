"""Whether the sandbox holds here: tried before it is relied on, once after each start of the machine.

It must let through what it should and stop what it should; the second is tried against baits laid out for it. Only a
sandbox that passes is used. If there is none, nothing is run, and the message says what to do.
"""

import asyncio
import json
import os
import secrets
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from perdure.tools.hands import Hands, Tier
from perdure.tools.sandbox.command import Bind, Command, Limits, Ran
from perdure.tools.sandbox.errors import SandboxFailed, SandboxUnavailable
from perdure.tools.sandbox.fixes import fix_for, missing
from perdure.tools.sandbox.inside import PROBES
from perdure.tools.sandbox.outlet import interpreter, needed
from perdure.tools.sandbox.overlay import UNABLE
from perdure.tools.sandbox.root import BWRAP
from perdure.tools.sandbox.running import run
from perdure.tools.sandbox.stage import Staging, staged
from perdure.tools.scratch import scratch

_INSIDE: Final = Path(__file__).with_name("inside.py")
_AT: Final = Path("/run/perdure/inside.py")
_FEW_PROCESSES: Final = 40
SECONDS: Final = 30.0
_kept: Final[dict[str, "Report"]] = {}


class Finding(msgspec.Struct, frozen=True):
    """One thing that was tried."""

    name: str
    wrong: str = ""
    """What happened instead; empty: it went as it should."""


class Report(msgspec.Struct, frozen=True):
    """What is true of the sandbox here."""

    tier: Tier
    staging: Staging
    findings: tuple[Finding, ...] = ()
    problem: str = ""
    """Why it cannot be used; empty: it can."""
    fix: str = ""

    @property
    def ok(self) -> bool:
        """Whether commands may be run."""
        return not self.problem


async def available(hands: Hands) -> Report:
    """The report on the sandbox that these hands ask for. `SandboxUnavailable` if it does not hold."""
    report = await probe(hands)
    if report.ok:
        return report
    raise SandboxUnavailable(report.problem, report.fix)


async def probe(hands: Hands, *, afresh: bool = False) -> Report:
    """Try the sandbox, or say what was found when it was tried since the machine was started."""
    about = _about(hands.tier)
    if afresh or (found := _kept.get(about) or _recalled(hands.state, about)) is None:
        found = await _probe(hands)
        if found.ok:  # what is wrong may be mended any time
            _remember(hands.state, about, found)
    if found.ok:
        _kept[about] = found
    return found


async def _probe(hands: Hands) -> Report:
    if hands.tier == "none":
        return Report("none", "copy")
    if told := missing(hands.tier):
        return Report(hands.tier, "copy", (), *told)
    with _baits() as bait:
        staging: Staging = "overlay" if hands.tier == "bwrap" else "copy"
        try:
            ran = await _try(hands, bait, staging)
            if staging == "overlay" and ran.code == UNABLE:
                staging = "copy"
                ran = await _try(hands, bait, staging)
        except SandboxFailed as error:
            return Report(hands.tier, staging, (), error.message, fix_for(error.message))
        findings = (_out(bait), await _late(hands, bait))
    return _report(hands.tier, staging, ran, findings)


async def _try(hands: Hands, bait: dict[str, Any], staging: Staging) -> Ran:
    with staged(hands.state, Path(bait["workspace"]), staging) as stage:
        words = [interpreter(), "-I", "-S", str(_AT if hands.tier == "bwrap" else _INSIDE), json.dumps(bait)]
        command = stage.command(_command(hands.tier, words))
        try:
            return await run(command)
        except SandboxFailed as error:
            if staging == "overlay" and "no overlay" in error.message:
                return Ran(UNABLE, b"", b"", truncated=False, seconds=0, sandboxed=hands.tier)
            raise


def _command(tier: Tier, words: list[str]) -> Command:
    binds = [*needed(), Bind(_INSIDE, _AT)]
    return Command(
        words, tier=tier, binds=binds, seconds=SECONDS, limits=Limits(processes=_FEW_PROCESSES),
        env={"PROBE_PROCESSES": str(_FEW_PROCESSES)},
    )  # fmt: skip


def _out(bait: dict[str, Any]) -> Finding:
    """Whether what was tried to be written outside is there."""
    wrong = f"{bait['outside']} was written" if Path(bait["outside"], "probe").exists() else ""
    return Finding("leaves no file outside", wrong)


async def _late(hands: Hands, bait: dict[str, Any]) -> Finding:
    """Whether something that hides from its parents goes on after the end."""
    place = Path(bait["workspace"])
    late = place / "late"

    def wrote() -> str:
        return "seen" if late.exists() and late.stat().st_size else ""

    daemon = "(setsid sh -c 'while :; do echo x >> late; done' >/dev/null 2>&1 &) ; sleep 60"
    words = ["/bin/sh", "-c", daemon]
    await run(Command(words, workspace=place, writable=True, tier=hands.tier, seconds=SECONDS), watch=wrote)
    before = late.stat().st_size if late.exists() else 0
    await asyncio.sleep(0.1)
    after = late.stat().st_size if late.exists() else 0
    wrong = "" if before == after and before else "nothing was written" if not before else "it writes after its end"
    return Finding("is gone when it is ended", wrong)


def _report(tier: Tier, staging: Staging, ran: Ran, seen: tuple[Finding, ...]) -> Report:
    try:
        told = json.loads(ran.stdout)
    except ValueError:
        said = ran.stderr.decode("utf-8", "replace").strip()[-500:]
        problem = f"the sandbox does not run commands as it should: code {ran.code}, {said or 'not a word'}"
        return Report(tier, staging, (), problem, fix_for(said))
    findings = (*(Finding(name, told.get(name, "it was not tried")) for name in PROBES), *seen)
    wrong = [f"{each.name}: {each.wrong}" for each in findings if each.wrong]
    problem = f"the sandbox does not hold: {'; '.join(wrong)}" if wrong else ""
    return Report(tier, staging, findings, problem, fix_for(problem) if wrong else "")


# ------------------------------------------------------------------------------- baits


@contextmanager
def _baits() -> Generator[dict[str, Any]]:
    """Things outside that nobody inside may touch."""
    with scratch() as root, socket.create_server(("127.0.0.1", 0)) as listening:
        (root / "secret").write_text("bait")
        (root / "workspace").mkdir()
        yield {
            "workspace": str(root / "workspace"),
            "secret": str(root / "secret"),
            "outside": str(root),
            "port": listening.getsockname()[1],
            "engine": os.getpid(),
            "canary": _canary(),
        }


def _canary() -> str:
    """Something of our own environment that must not be seen inside, as it stands there.

    A Python that is started without a locale sets `LC_CTYPE`, outside as inside.
    """
    common = ("LANG", "PATH", "HOME", "TERM", "USER", "TMPDIR", "PWD", "_")
    for name, value in os.environ.items():
        if name not in common and not name.startswith("LC_") and len(value) > 3:  # noqa: PLR2004
            return f"{name}={value}"
    return secrets.token_hex(8)


# ------------------------------------------------------------------------------- memory


def _about(tier: Tier) -> str:
    """What a report is true of: this start of the machine, this user, these programs."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        program = Path(BWRAP).stat().st_mtime_ns
    except OSError:
        boot, program = secrets.token_hex(8), 0
    own = _INSIDE.stat().st_mtime_ns
    return f"{boot} {tier} {os.geteuid()} {program} {own} {interpreter()} {sys.version_info[:3]}"


def _recalled(state: Path, about: str) -> Report | None:
    try:
        kept = json.loads((state / "sandbox.json").read_bytes())
        return msgspec.convert(kept["report"], Report) if kept["about"] == about else None
    except (OSError, ValueError, KeyError, TypeError, msgspec.ValidationError):
        return None


def _remember(state: Path, about: str, report: Report) -> None:
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = state / f"sandbox.{os.getpid()}.new"
    draft.write_bytes(msgspec.json.encode({"about": about, "report": report}))
    draft.replace(state / "sandbox.json")
