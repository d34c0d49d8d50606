"""The way out for commands: the hosts that a step names, as far as the rules allow them."""

from typing import Final

from perdure.core.policy import Deed, split_host
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.net import Gate, Pin, Proxy


class NamedHosts(Gate):
    """A gate that lets through only what the step has named."""

    def __init__(self, context: Context, hosts: list[str]) -> None:
        super().__init__(context.guard)
        self._named: Final = {split_host(each) for each in hosts}

    def admit(self, host: str, port: int) -> Pin:
        """As any gate, once the host is found among those that were named."""
        if (host, str(port)) not in self._named:
            raise self.refuse(Deed("connect", f"{host}:{port}"[:200]), f"the step does not name {host[:200]}:{port}")
        return super().admit(host, port)


def connections(hosts: list[str]) -> tuple[Deed, ...]:
    """The deeds that hosts stand for, as the gate will judge each connection."""
    return tuple(Deed("connect", ":".join(split_host(each))) for each in hosts)


def proxy_to(context: Context, hosts: list[str]) -> Proxy | None:
    """The proxy of one command; None if it names no hosts, or nothing could hold it to them."""
    if not hosts or context.hands.tier == "none":
        return None
    if context.hands.tier == "landlock":
        raise ToolFailure("unavailable", "network: the tier `landlock` has no way out; use `bwrap`")
    return Proxy(NamedHosts(context, hosts))
