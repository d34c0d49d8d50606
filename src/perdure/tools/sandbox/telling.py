"""What a command has said and how it ended, for people, for models and for those who watch."""

import time
from typing import Any, Final

from perdure.core.calls import Repeat
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.sandbox.command import Hear, Ran, Stream

TAIL: Final = 800
"""Letters of its last words that a failure shows."""
PAUSE: Final = 0.2
"""Seconds between two lines that watchers are told."""
LINE: Final = 200


def told(ran: Ran) -> dict[str, Any]:
    """What came of a command, as JSON."""
    found = {"code": ran.code, "stdout": _text(ran.stdout), "stderr": _text(ran.stderr)}
    more = {"truncated": ran.truncated, "seconds": round(ran.seconds, 3), "sandboxed": ran.sandboxed}
    return {**found, **more, "signal": ran.signal} if ran.signal else {**found, **more}


def refuse_bad_end(name: str, ran: Ran, *, check: bool, repeat: Repeat) -> None:
    """`ToolFailure` for a command that was ended, and, if codes are checked, for one that says it has failed."""
    if ran.stopped == "time":
        raise ToolFailure("timeout", f"{name} took too long and was ended{_last(ran)}", detail=told(ran))
    if ran.stopped:
        raise ToolFailure("budget", f"{name} wrote more than it may and was ended", detail=told(ran))
    if check and ran.code != 0:
        raise _bad_end(f"{name} {_how(ran)}{_last(ran)}", ran, repeat)


def _bad_end(message: str, ran: Ran, repeat: Repeat) -> ToolFailure:
    from perdure.tools.classifying import told_by  # noqa: PLC0415  few commands fail
    from perdure.tools.signs import Signs  # noqa: PLC0415  few commands fail

    signs = Signs(exit_code=ran.code, signal=ran.signal)
    return told_by(signs, message, repeat=repeat, otherwise="logic", detail=told(ran))


def hearing(context: Context) -> Hear:
    """Tells watchers the latest line of a command, now and then."""
    last = 0.0

    def hear(_: Stream, more: bytes) -> None:
        nonlocal last
        lines = more.rstrip().rpartition(b"\n")
        if lines[2] and time.monotonic() > last + PAUSE:
            last = time.monotonic()
            context.progress(0.0, _text(lines[2][-LINE:]))

    return hear


def _how(ran: Ran) -> str:
    if ran.signal:
        return f"was ended by {ran.signal}"
    return "is not there in the sandbox, or cannot be run" if ran.code in (126, 127) else f"ended with code {ran.code}"


def _last(ran: Ran) -> str:
    said = _text(ran.stderr).strip() or _text(ran.stdout).strip()
    return f": {'…' if len(said) > TAIL else ''}{said[-TAIL:]}" if said else ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
