"""The key of a deed: by it the far side knows that a second call is the same one."""

import hashlib


def key_of(run: str, step: str, visit: int, call: str) -> str:
    """Made of run, step, visit and the digest of the call, but not of the attempt.

    A retry is the same deed, a new visit is a new one.
    """
    return hashlib.sha256(f"{run}|{step}|{visit}|{call}".encode()).hexdigest()[:40]
