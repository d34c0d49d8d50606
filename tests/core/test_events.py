"""E1 E15: every fact can be written and read again, as it was."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.core import events as e
from perdure.core.calls import Approval, Failure, Usage
from perdure.core.policy import Deed, Judgement
from perdure.core.values import Value

TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
FAILURE = st.builds(Failure, TEXT, TEXT, st.none() | st.floats(0, 1e6), JSON)
VALUE = st.builds(lambda data: Value(data=data), JSON) | st.just(Value(sha256="ab" * 32))
AMOUNT = st.none() | st.floats(0, 1e6)
USAGE = st.none() | st.builds(Usage, AMOUNT, st.integers(0, 2**53), AMOUNT, st.integers(0, 2**53))
DEED = st.builds(Deed, kind=st.sampled_from(["read", "write"]), what=TEXT, words=st.lists(TEXT, max_size=2).map(tuple))
JUDGEMENT = st.builds(Judgement, deed=DEED, verdict=st.sampled_from(["allow", "ask"]), by=TEXT, why=TEXT)

OWN = {
    "undo": st.none() | st.dictionaries(TEXT, JSON, max_size=2),
    "approval": st.none() | st.builds(Approval, digest=TEXT, text=TEXT),
    "judged": st.lists(JUDGEMENT, max_size=2).map(tuple),
}


def event_of(kind):
    """Any event of a type."""
    given_ = {field.name: _field(kind, field.name, field.type) for field in msgspec.structs.fields(kind)}
    return st.builds(kind, **given_)


def _field(kind, name, type_):
    text = str(type_)
    if name in ("approval", "judged", "undo"):
        return _own(kind, name)
    if "Value" in text:
        return VALUE if "None" not in text else st.none() | VALUE
    if "Failure" in text:
        return FAILURE if kind is e.EffectKept else st.none() | FAILURE
    if "Usage" in text:
        return USAGE
    known = {
        "str": TEXT, "int": st.integers(0, 2**53), "bool": st.booleans(), "float": st.floats(0, 1), "Any": JSON,
        "int | None": st.none() | st.integers(0, 2**53), "tuple[str, ...]": st.lists(TEXT, max_size=2).map(tuple),
        "dict[str, str]": st.dictionaries(TEXT, TEXT, max_size=2),
        "dict[str, typing.Any]": st.dictionaries(TEXT, JSON, max_size=2), "tuple[dict[str, typing.Any], ...]": st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2).map(tuple),
        "dict[str, typing.Any] | None": st.none() | st.dictionaries(TEXT, JSON, max_size=2), "typing.Literal['do', 'undo', 'probe', 'judge']": st.sampled_from(["do", "undo", "probe", "judge"]),
    }  # fmt: skip
    return known[
        text.removeprefix("<class '").removesuffix("'>").removeprefix("typing.") if text not in known else text
    ]


def _own(kind, name):
    if name == "undo" and kind in (e.StepStopping, e.EffectFound):
        return st.lists(TEXT, max_size=2).map(tuple) if kind is e.StepStopping else st.dictionaries(TEXT, JSON)
    return OWN[name]


@pytest.mark.parametrize("kind", e.EVENTS.values(), ids=lambda kind: kind.type)
@settings(max_examples=30, deadline=None, database=None, derandomize=True)
@given(data=st.data())
def test_every_event_comes_back_as_it_was(kind, data):
    event = data.draw(event_of(kind))
    body = e.encode(event)
    again = e.decode(event.type, body)
    assert again == event
    assert e.encode(again) == body


def test_half_of_a_unicode_pair_comes_back_too():
    event = e.SignalReceived(name="go", value=Value(data="\ud83d"))
    assert e.decode(event.type, e.encode(event)) == event


def test_defaults_are_not_written():
    assert e.encode(e.StepEnded(step="a")) == b'{"step":"a"}'
    assert e.encode(e.AttemptEnded(step="a", output=Value(data=False))) == b'{"step":"a","output":{"data":false}}'


@pytest.mark.parametrize(
    ("type_", "body"),
    [
        ("step_flew", b"{}"),
        ("step_ended", b"{}"),
        ("step_ended", b"not json"),
        ("step_ended", b'{"step":"a","colour":1}'),
        ("step_ended", b'{"step":"\\ud800"'),
        ("step_ended", b'{"colour":"\\ud800"}'),
        ("step_ended", b'{"step":"a","output":{"data":' + b"[" * 100_000),
        ("step_ended", b'{"step":"\\ud800","output":{"data":' + b"[" * 100_000),
    ],
)
def test_what_this_release_cannot_read_is_a_value_error(type_, body):
    with pytest.raises(ValueError, match=r"."):
        e.decode(type_, body)


def test_type_words_are_stable():
    assert sorted(e.EVENTS) == [
        "attempt_ended", "attempt_lost", "attempt_progressed", "attempt_started", "attempt_stopping", "effect_found", "effect_kept", "locks_taken",
        "names_mapped",
        "question_answered", "question_asked", "question_closed", "retry_planned", "revision_refused", "run_ended", "run_forked", "run_paused", "run_reopened", "run_resumed",
        "run_revised", "run_started", "run_stopping", "rung_taken", "signal_received", "signal_taken", "step_ended", "step_entered", "step_passed", "step_stopping", "steps_grown",
    ]  # fmt: skip
