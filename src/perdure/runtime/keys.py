"""The key of a deed: by it the far side knows that a second call is the same one."""

import hashlib

from perdure.core.calls import Call
from perdure.core.seeing import as_data
from perdure.core.values import digest_of


def key_of(run: str, step: str, visit: int, call: Call) -> str:
    """Made of run, step, visit and call, but not of the attempt: a retry is the same deed, a new visit is a new one."""
    return hashlib.sha256(f"{run}|{step}|{visit}|{digest_of(as_data(call))}".encode()).hexdigest()[:40]
