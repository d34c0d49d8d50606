"""E16: `perdure signal`: kept until a step takes it."""

import json

import pytest
from runs import TEXT

PLAN = """
perdure: 1
steps:
  - {id: pay, wait: {signal: paid}}
  - {id: say, tool: flow.echo, with: {value: "${steps.pay.output}"}}
output: ${steps.say.output}
"""


@pytest.mark.parametrize(
    ("value", "expected"), [([], None), (["12"], 12), (['{"a": 1}'], {"a": 1}), (["in full"], "in full")]
)
def test_a_signal_brings_a_value(place, value, expected):
    place.run(PLAN, code=4)
    assert "goes on at say" in place.do("signal", "@last", "paid", *value).stderr
    done = place.do("resume", "@last", "--json")
    assert json.loads(done.stdout)["output"] == expected


def test_the_process_that_waits_goes_on(place):
    with place.going("run", place.plan(PLAN), "--wait") as going:
        going.says("pay  begins")
        place.do("signal", going.run, "paid", "7")
        assert going.ends(0).out == "7\n"


def test_a_signal_that_comes_early_is_kept(place):
    place.run(PLAN, code=4)
    place.do("signal", "@last", "other", "1")
    assert place.shown()["signals"] == ["paid"]


def test_refused(place):
    place.run(TEXT)
    assert "PRD3002" in place.do("signal", "@last", "paid", code=1).stderr
    place.do("signal", "r_zzz", "paid", code=3)
    place.do("signal", "@last", code=2)
