"""E11 X9: what stands behind the key of a step is told as the run itself knows it."""

import pytest
from told import NAMES, golden

from perdure.core import events as e
from perdure.engine import View
from perdure.observing.folding import Fold
from perdure.observing.naming import Documents, callee_of, read_document


def known(view, key):
    """What the state of the run says that a step calls."""
    call = view.state.cells[key].traits.call
    kind = next(word for word in ("tool", "model", "agent") if hasattr(call, word))
    name = getattr(call, kind)
    return kind, view.state.names.tool(name) if kind == "tool" else name


@pytest.mark.parametrize("name", NAMES)
async def test_e11_names_are_those_of_the_state(name):
    journal, entries = await golden(name)
    view, fold = View(journal, entries[0].run), Fold(journal.fetch)
    story = fold.story(view.run)
    for entry in entries:
        event = view.take(entry)
        fold.take(view.run, [entry])
        if isinstance(event, e.AttemptStarted) and event.deed == "do":
            assert story.callee(event.step) == known(view, event.step)
            around = [cell.key for cell in view.state.cells[event.step].around if cell.key]
            assert list(story.naming.around(event.step)) == around
    assert set(story.attempts) == {(key, "do") for key in view.state.flying}


def test_a_plan_that_is_not_there_or_is_none_has_no_names():
    from perdure.ports import UnknownArtifact

    def missing(digest):
        raise UnknownArtifact(digest)

    assert Documents(missing)("0").steps == {}
    for data in (b"", b"[1]", b"{", b'{"steps": 3}', b"[" * 100_000):
        assert read_document(data).steps == {}


@pytest.mark.parametrize(
    ("meta", "planner"),
    [
        ({}, "person"),
        ({"planner": "template"}, "template"),
        ({"metadata": {"planner": "tools"}}, "tools"),
        ({"planner": "tools", "unplanned": "no tool fits"}, "nobody"),
        ({"planner": 3}, "person"),
    ],
)
def test_x9_who_made_a_plan(meta, planner):
    import json

    assert read_document(json.dumps({"meta": meta, "steps": []}).encode()).planner == planner


def test_a_step_that_decides_calls_what_it_asks():
    assert callee_of({"decide": {"model": "weak"}, "choices": ["a"]}) == ("model", "weak")
    assert callee_of({"decide": "true", "choices": ["a"]}) == ("decide", "")
    assert callee_of({"plan": "release"}) == ("plan", "release")
    assert callee_of({"steps": []}) == ("group", "")
