"""Ports that this process listens on itself: no tool gets there, whatever a policy allows.

Whoever answers questions of a run must be somebody else than the run. This is a second lock beside the key.
"""

import socket
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_PORTS: Final[Counter[int]] = Counter()


@contextmanager
def kept_from_tools(port: int) -> Generator[None]:
    """Keep tools from a port of this machine as long as the block lasts."""
    _PORTS[port] += 1
    try:
        yield
    finally:
        _PORTS[port] -= 1


def is_ours(address: str, port: int) -> bool:
    """Whether an address and a port lead back to this process."""
    return _PORTS[port] > 0 and _is_here(address)


def _is_here(address: str) -> bool:
    """Whether it is an address of this machine, by the word of the kernel: nobody can bind one that is not."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trial:
            trial.bind((address, 0))
    except OSError:
        return False
    return True
