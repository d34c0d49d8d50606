"""E8 E16: `perdure logs`: the facts of a run, one line each."""

import json

from runs import ASK, HELLO


def test_a_line_for_each_fact(place):
    place.run(HELLO, "-i", "name=Ada")
    lines = place.do("logs", "@last").stdout.splitlines()
    assert len(lines) == place.shown()["entries"]
    assert lines[0].endswith("the run starts: Greet Ada")
    assert lines[1].endswith("greet  at work")
    assert lines[-1].endswith("the run succeeded")
    assert place.do("logs", "@last", "--after", 2).stdout.splitlines() == lines[2:]
    assert place.do("logs", "@last", "--after", 10_000).stdout == ""


def test_as_json(place):
    place.run(HELLO, "-i", "name=Ada")
    lines = [json.loads(line) for line in place.do("logs", "@last", "--jsonl").stdout.splitlines()]
    assert {"run", "seq", "type", "at", "body"} == lines[0].keys()
    assert place.do("logs", "@last", "--jsonl", "-f").stdout.count("\n") == len(lines)


def test_followed_until_the_run_is_over(place):
    place.run(ASK, code=4)
    with place.going("logs", "@last", "-f") as going:
        place.do("approve", "@last")
        place.do("resume", "@last")
        going.ends(0)
        assert going.out.splitlines()[-1].endswith("the run succeeded")


def test_ctrl_c_ends_the_reading_and_nothing_else(place):
    from runs import until

    place.run(ASK, code=4)
    with place.going("logs", "@last", "-f") as going:
        until(lambda: "q_ship_1" in going.out, "the question")
        going.send()
        going.ends(130)
        assert going.err == ""
    assert place.shown()["status"] == "waiting"


def test_what_is_not_there(place):
    place.do("logs", "@last", code=3)
