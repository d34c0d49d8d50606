"""Commands in a sandbox: a root of their own, no network but through a gate, limits, and an end that is certain."""

from perdure.tools.sandbox.command import Bind, Command, Limits, Proxying, Ran
from perdure.tools.sandbox.errors import SandboxFailed, SandboxUnavailable, StageFailed
from perdure.tools.sandbox.probes import Report, available, probe
from perdure.tools.sandbox.running import run
from perdure.tools.sandbox.sandboxed import Sandboxed, spawn

__all__ = [
    "Bind",
    "Command",
    "Limits",
    "Proxying",
    "Ran",
    "Report",
    "SandboxFailed",
    "SandboxUnavailable",
    "Sandboxed",
    "StageFailed",
    "available",
    "probe",
    "run",
    "spawn",
]
