"""A run as one JSON document."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from msgspec import structs

from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.documents.commands import CommandLine, command_line
from perdure.documents.listing import forked
from perdure.documents.moments import moment
from perdure.documents.questions import question_document
from perdure.engine import StepResult, View


def run_document(
    view: View, *, interrupted: bool = False, command: CommandLine | None = command_line
) -> dict[str, Any]:
    """All that is known of a run. `interrupted`: it is under way, and nobody carries it on.

    `command` makes the command lines that answer its questions; None: whoever reads this types none.
    """
    result, state = view.result, view.state
    started = state.started
    return {
        "schema": "perdure.run/1",
        "id": view.run,
        "status": result.status,
        "interrupted": interrupted,
        "goal": started.goal if started else "",
        "plan": f"sha256:{started.plan}" if started else None,
        "revision": state.revision,
        "names": asdict(state.names),
        "session": (started.session if started else "") or None,
        "fork": forked(state.forked.of, state.forked.seq) if state.forked else None,
        "inputs": started.inputs.load(state.read) if started else None,
        "began": moment(state.root.at if state.root else None),
        "updated": moment(state.at),
        "wake_at": moment(state.wake_at),
        "entries": view.seq,
        "output": result.output,
        "failure": failure_document(result.failure),
        "cause": result.cause or None,
        "steps": {key: _step(view, step, state.cells[key]) for key, step in result.steps.items()},
        "partial": result.partial,
        "missing": list(result.missing),
        "unplanned": result.unplanned or None,
        "usage": asdict(result.usage),
        "questions": {id_: question_document(view, view.put[id_], command) for id_ in state.questions},
        "signals": [name for name, cells in state.waiting.items() if cells],
    }


def failure_document(failure: Failure | None) -> Mapping[str, Any] | None:
    """Why something failed, as data."""
    return None if failure is None else structs.asdict(failure)


def _step(view: View, step: StepResult, cell: Cell) -> dict[str, Any]:
    return {
        "status": step.status,
        "exit": step.exit or None,
        "output": step.output,
        "failure": failure_document(step.failure),
        "visits": step.visits,
        "attempts": step.attempts,
        "ways": list(step.ways),
        "sandboxed": step.sandboxed or None,
        "began": moment(cell.at or None),
        "ended": moment(view.ended.get(cell.key)) if step.status == "over" else None,
    }
