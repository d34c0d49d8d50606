"""E16 T3: `perdure questions`, and answers from any process: what is listed, what fits, and who was first."""

import json
import os
import pty
import subprocess
import sys

import pytest
from program import clean_environment
from runs import until

from perdure.core.events import QuestionAnswered

BOTH = """
perdure: 1
goal: Serve
parallel:
  - {id: left, ask: "Left?", to: [ann], deadline: 2d, default: rejected, on: {rejected: done}}
  - {id: right, ask: "Which?", choices: [tea, coffee], on: {tea: done, coffee: done}}
"""
FORM = """
perdure: 1
steps:
  - id: it
    ask: "Who?"
    form: {type: object, required: [name, n], properties: {name: {type: string}, n: {type: integer}, more: {type: boolean}}}
output: ${steps.it.output}
"""
SHIP = """
perdure: 1
steps:
  - {id: build, tool: deed.write, with: {name: built}}
  - {id: ship, ask: "Ship?"}
  - {id: publish, tool: deed.write, with: {name: published}}
output: ${steps.publish.output}
"""
TOOLS = ("--tools", "deeds")


def listed(place, *words):
    return json.loads(place.do("questions", *words, "--json").stdout)


def test_what_people_are_asked_is_listed_over_all_runs_oldest_first(place):
    assert place.do("questions").stdout == ""
    place.run(BOTH, code=4)
    place.run(FORM, code=4)
    rows = [line.split("\t") for line in place.do("questions").stdout.splitlines()]
    assert [(row[0], row[4], row[5]) for row in rows] == [
        ("q_left_1", "ann", "Left?"), ("q_right_1", "", "Which?"), ("q_it_1", "", "Who?"),
    ]  # fmt: skip
    assert rows[0][3].endswith(("h", "d"))
    first = listed(place, "--limit", "2")
    assert [each["id"] for each in first["questions"]] == ["q_left_1", "q_right_1"]
    rest = listed(place, "--limit", "2", "--after", str(first["next"]))
    assert ([each["id"] for each in rest["questions"]], rest["next"]) == (["q_it_1"], None)
    assert [each["id"] for each in listed(place, "--for", "bob")["questions"]] == ["q_right_1", "q_it_1"]
    assert [each["id"] for each in listed(place, "@last")["questions"]] == ["q_it_1"]


def test_a_question_says_all_and_afterwards_who_answered_what(place):
    place.run(BOTH, code=4)
    told = place.do("questions", "@last").stdout
    for words in (
        "left asks (to ann): Left?",
        "its default rejected holds: ",
        "perdure reject",
        "tea: the run is over",
    ):
        assert words in told
    place.do("approve", "@last", "left", "--by", "ann", "-m", "gladly")
    found = listed(place, "--all")["questions"]
    assert [(each["id"], each["status"]) for each in found] == [("q_left_1", "answered"), ("q_right_1", "open")]
    assert (found[0]["value"], found[0]["by"], found[0]["reason"]) == (True, "ann", "gladly")
    assert list(found[1]["answers"]) == ["tea", "coffee"]
    assert "q_left_1  answered" in place.do("questions", "@last", "--all").stdout
    assert "→ true by ann" in place.do("questions", "--all").stdout


@pytest.mark.parametrize(
    "words",
    [("name=ann", "n=3"), ("it", "name=ann", "n=3"), ("q_it_1", '{"name": "ann", "n": 3}'), ("--file", "form.json"), ("--file", "-")],
    ids=["fields", "fields of a step", "JSON", "a file", "standard input"],
)  # fmt: skip
def test_a_form_is_filled_in_in_many_ways(place, words):
    place.run(FORM, code=4)
    (place.path / "form.json").write_text('{"name": "ann", "n": 3}\n')
    assert "PRD3005" in place.do("answer", "@last", "name=ann", code=2).stderr
    place.do("answer", "@last", *words, stdin='{"name": "ann", "n": 3}')
    assert place.shown()["output"] == {"name": "ann", "n": 3}


def test_a_question_can_stand_alone_and_the_second_to_answer_hears_who_was_first(place):
    place.run(BOTH, code=4)
    said = place.do("reject", "q_left_1", "--by", "bob", code=2).stderr
    assert "only ann may answer q_left_1, and bob is not among them" in said
    place.do("approve", "q_left_1", "--by", "ann")
    assert "was answered so before" in place.do("approve", "q_left_1", "--by", "ann").stderr
    said = place.do("reject", "q_left_1", "--by", "ann", code=3).stderr
    assert "PRD3008" in said
    assert "q_left_1 was answered by ann: true" in said
    assert "PRD3004" in place.do("approve", "q_nobody_1", code=3).stderr
    place.run(BOTH, code=4)
    assert "PRD3106" in place.do("answer", "q_right_1", "tea", code=2).stderr, "two runs ask it"


def test_without_a_value_and_without_a_terminal_nothing_is_guessed(place):
    place.run(FORM, code=4)
    assert "a VALUE is missing" in place.do("answer", "@last", code=2).stderr
    assert "too much" in place.do("answer", "@last", "q_it_1", "x", "--file", "-", code=2, stdin="y").stderr
    assert "cannot read" in place.do("answer", "@last", "--file", "nowhere", code=2).stderr


def at_terminal(place, *words, typed):
    """The program as somebody sees it who types these lines."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "perdure", *words, "--db", str(place.db)]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=place.path,
        env=clean_environment(place.path, TERM="dumb"),
    ) as process:  # fmt: skip
        os.close(theirs)
        seen = b""
        for wanted, line in typed:
            while wanted.encode() not in seen:
                seen += os.read(ours, 4096)
            seen = b""
            os.write(ours, f"{line}\n".encode())
        assert process.wait(100) == 0
    os.close(ours)


def test_at_a_terminal_a_form_is_asked_for_field_by_field_until_it_fits(place):
    place.run(FORM, code=4)
    typed = [
        ("name (string)", "ann"),
        ("n (integer)", "three"),
        ("n (integer)", "3"),
        ("more (boolean, may be left out)", ""),
    ]
    at_terminal(place, "answer", "@last", typed=typed)
    assert place.shown()["output"] == {"name": "ann", "n": 3}


def test_at_a_terminal_words_are_asked_for_until_they_fit(place):
    place.run(BOTH, code=4)
    at_terminal(place, "answer", "q_left_1", "--by", "ann", typed=[("yes or no", "y")])
    at_terminal(place, "answer", "q_right_1", typed=[("tea or coffee", "milk"), ("does not fit", "tea")])
    assert place.shown()["status"] == "succeeded"


# ------------------------------------------------------------------------------- from any process


@pytest.mark.parametrize("driven", [False, True], ids=["nobody drives it", "somebody drives it"])
def test_of_two_processes_at_once_one_wins_and_the_other_hears_who(place, driven):
    def answered_by_both():
        with (
            place.going("approve", "@last", "--by", "ann") as ann,
            place.going("reject", "@last", "ship", "--by", "bob") as bob,
        ):
            codes = {"ann": ann.process.wait(100), "bob": bob.process.wait(100)}
            return codes, {"ann": ann.err, "bob": bob.err}

    if driven:
        with place.going("run", place.plan(SHIP), *TOOLS, "--wait") as owner:
            owner.says("asks q_ship_1")
            codes, told = answered_by_both()
            owner.process.wait(100)
    else:
        place.run(SHIP, *TOOLS, code=4)
        codes, told = answered_by_both()
    winner, loser = sorted(codes, key=codes.get)
    if driven and "PRD2303" in told[loser]:  # the run was over, and its process gone, before it had an answer
        again = place.do("approve" if loser == "ann" else "reject", "@last", "ship", "--by", loser, code=3)
        codes[loser], told[loser] = again.returncode, again.stderr
    assert sorted(codes.values()) == [0, 3], told
    assert f"answered by {winner}" in told[loser], told
    assert place.do("logs", "@last").stdout.count("q_ship_1 is answered") == 1
    if not driven and winner == "ann":
        place.do("resume", "@last", *TOOLS)
    assert place.deeds() == (["built", "published"] if winner == "ann" else ["built"])


def test_whoever_is_killed_after_the_answer_loses_nothing_and_repeats_nothing(place):
    plan = SHIP.replace("deed.write, with: {name: published}", "deed.wait, with: {name: go}")
    with place.going("run", place.plan(plan), *TOOLS, "--wait") as owner:
        owner.says("asks q_ship_1")
        place.do("approve", "@last", "--by", "ann")
        until(lambda: QuestionAnswered.type in place.do("logs", "@last", "--jsonl").stdout)
        owner.kill()
    place.let("go")
    place.do("resume", "@last", *TOOLS)
    assert "was answered so before" in place.do("approve", "q_ship_1", "--by", "ann").stderr
    assert place.deeds().count("built") == 1
    assert place.shown()["status"] == "succeeded"
    assert place.do("logs", "@last").stdout.count("q_ship_1 is answered") == 1


MEND = """
perdure: 1
steps:
  - {id: fetch, tool: flow.fail, with: {message: "no such host", kind: unavailable}, retry: {attempts: 2, wait: 0}, on: {failure: by_hand, success: use}}
  - {id: by_hand, ask: "Give it by hand.", form: {type: object, required: [price], properties: {price: {type: number}}}}
  - {id: use, tool: flow.echo, with: {value: "costs ${steps.by_hand.output.price}"}}
output: ${steps.use.output}
"""


def test_t3_somebody_sees_the_failure_and_gives_what_later_steps_use(place):
    said = place.run(MEND, code=4).stderr
    assert "because fetch failed after 2 attempts (unavailable): no such host" in said
    after = place.shown()["questions"]["q_by_hand_1"]["after"]
    assert after == {"step": "fetch", "kind": "unavailable", "message": "no such host", "attempts": 2}
    place.do("answer", "@last", "price=2.5")
    assert place.do("resume", "@last").stdout == "costs 2.5\n"
