"""What a listing shows of a run, in numbers."""

import json
from typing import Any

from perdure.core.state import State


def counters_of(state: State) -> bytes:
    """How far it is, what it waits for and what it holds, as JSON."""
    found: dict[str, Any] = {"steps": state.steps_over, "attempts": state.attempts}
    if state.forked is not None:
        found["fork"] = {"of": state.forked.of, "seq": state.forked.seq}
    if state.questions:
        found["questions"] = len(state.questions)
    if state.locks:
        return json.dumps({**found, "locks": sorted(state.locks)}).encode()
    return json.dumps(found).encode()
