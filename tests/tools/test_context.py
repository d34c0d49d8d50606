"""What a tool knows of its attempt."""

import logging

import pytest

from perdure.tools import Context, ToolFailure


def test_it_tells_which_attempt_it_is(an_attempt):
    context = Context(an_attempt("a.b"))
    assert (context.key, context.run, context.step, context.visit, context.attempt) == ("key-1", "r_1", "fetch", 2, 3)
    assert context.seconds_left is None
    assert context.cancelled is False


def test_the_time_left_counts_down_and_ends_at_zero(an_attempt, monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    context = Context(an_attempt("a.b", seconds=5))
    assert context.seconds_left == 5
    now = 103.0
    assert context.seconds_left == 2
    now = 110.0
    assert context.seconds_left == 0


@pytest.mark.parametrize(("fraction", "heard"), [(0.5, 0.5), (-1, 0), (7, 1), (float("nan"), 0), (float("inf"), 1)])
def test_progress_stays_between_zero_and_one(an_attempt, fraction, heard):
    Context(an_attempt("a.b")).progress(fraction, "so far")
    assert an_attempt.heard == [(heard, "so far")]


def test_after_a_stop_nothing_more_is_heard(an_attempt):
    context = Context(an_attempt("a.b"))
    context.raise_if_cancelled()
    context.stop()
    context.progress(0.5)
    assert an_attempt.heard == []
    assert context.cancelled
    with pytest.raises(ToolFailure) as caught:
        context.raise_if_cancelled()
    assert caught.value.failure.kind == "cancelled"


def test_records_of_its_log_carry_run_and_step(an_attempt, caplog):
    with caplog.at_level(logging.INFO):
        Context(an_attempt("a.b")).log.info("hello %s", "there")
    [record] = caplog.records
    assert (record.name, record.run, record.step, record.getMessage()) == ("perdure.tools.a.b", "r_1", "fetch", "hello there")  # fmt: skip
