"""E16: `perdure watch`: from any process, until the run is over."""

import json

from runs import ASK, FAIL, WAIT, until


def test_a_run_of_another_process_is_watched_to_its_end(place):
    with place.going("run", place.plan(WAIT), "--tools", "deeds") as going:
        until(place.deeds, "the first step")
        with place.going("watch", going.run) as watching:
            watching.says("first  at work")
            place.let("one")
            assert watching.ends(0).out == "two\n"
        going.ends(0)


def test_the_exit_code_is_that_of_the_run(place):
    place.run(FAIL, code=1)
    assert json.loads(place.do("watch", "@last", "--json", code=1).stdout)["status"] == "failed"
    lines = place.do("watch", "@last", "--jsonl", code=1).stdout.splitlines()
    assert json.loads(lines[-1])["type"] == "run_ended"
    place.do("watch", "@last", "--json", "--jsonl", code=2)


def test_ctrl_c_ends_the_watching_and_nothing_else(place):
    place.run(ASK, code=4)
    with place.going("watch", "@last") as watching:
        watching.says("asks q_ship_1")
        assert "nobody drives it; go on with: perdure resume" in watching.err
        watching.send()
        watching.ends(130)
    assert place.shown()["status"] == "waiting"


def test_what_is_not_there(place):
    place.do("watch", "@last", code=3)
