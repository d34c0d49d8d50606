"""A run as one JSON document."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from msgspec import structs

from perdure.cli.hints import answering
from perdure.cli.journals import fork_document, moment
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.events import QuestionAsked
from perdure.engine import StepResult, View
from perdure.engine.asking import Put, inquiry, said


def run_document(view: View, *, interrupted: bool = False) -> dict[str, Any]:
    """All that is known of a run. `interrupted`: it is under way, and nobody carries it on."""
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
        "fork": fork_document(state.forked.of, state.forked.seq) if state.forked else None,
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
        "questions": {id_: question_document(view, view.put[id_]) for id_ in state.questions},
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


def question_document(view: View, put: Put) -> dict[str, Any]:
    """A question: what was asked, what follows from each answer while it is open, and what came of it."""
    asked = put.asked
    return {
        "step": asked.step,
        "text": asked.text,
        "answer": asked.answer,
        "about": asked.about,
        "choices": list(asked.choices),
        "form": asked.form,
        "people": list(asked.people),
        "asked": moment(put.at),
        "status": put.status,
        **(_open_question(view, asked) if put.over is None else _closed_question(view, put)),
    }


def _open_question(view: View, asked: QuestionAsked) -> dict[str, Any]:
    seen = inquiry(view.state, asked)
    return {
        "after": None if seen.after is None else asdict(seen.after),
        "until": moment(seen.due),
        "silence": seen.silence or None,
        "answers": dict(seen.answers),
        "commands": list(answering(view.run, asked)),
    }


def _closed_question(view: View, put: Put) -> dict[str, Any]:
    answer = put.answer
    said_ = {} if answer is None else {"value": said(put, view.state), "by": answer.by, "reason": answer.reason or None}
    return {"over": moment(put.over), **said_}
