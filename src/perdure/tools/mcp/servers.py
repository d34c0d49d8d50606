"""MCP servers as people write them down: the `mcpServers` that other programs read too, and a few words of ours."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from perdure.core.calls import Repeat
from perdure.plan.model.parts import EffectWord

TIMEOUT: Final = 120.0
"""Seconds for one call, where neither the plan nor the file says."""
EVERY_TOOL: Final = "*"
_PORTS: Final = {"http": 80, "https": 443}
CAREFUL: Final[tuple[EffectWord, ...]] = ("reads", "writes", "network", "irreversible")
"""What is assumed of a tool, whatever its server says of it."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What the user knows of a tool. A server cannot say it: what it says are hints."""

    repeat: Repeat = "never"
    effects: tuple[EffectWord, ...] = CAREFUL


NO_TRUST: Final = Trust()


@dataclass(frozen=True, slots=True)
class Server:
    """One server: a command that talks over its standard streams, or an address."""

    name: str
    """The first part of its tools' names."""
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """May hold references."""
    cwd: Path | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """May hold references."""
    network: tuple[str, ...] = ()
    """Hosts that a command may reach, as `host:port`; addresses behind our own walls at which `url` may lie."""
    read: tuple[Path, ...] = ()
    """What a command may read, beside the system."""
    write: tuple[Path, ...] = ()
    """What a command may write."""
    trust: Mapping[str, Trust] = field(default_factory=dict[str, Trust])
    """By the server's name of the tool; `*` for all others."""
    timeout: float = TIMEOUT
    disabled: bool = False

    @property
    def hosts(self) -> tuple[str, ...]:
        """What calls of its tools may connect to, as `host:port`."""
        return (host_of(self.url),) if self.url else self.network

    def trusted(self, tool: str) -> Trust:
        """What the user says of a tool."""
        return self.trust.get(tool) or self.trust.get(EVERY_TOOL) or NO_TRUST


def host_of(url: str) -> str:
    """`host:port` of an address, in the form in which hosts are judged; empty if there is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return ""
    if not parts.hostname or not port or parts.username is not None:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}:{port}"
