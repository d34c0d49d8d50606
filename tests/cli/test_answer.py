"""E16: `perdure answer`, `approve`, `reject`: which question, what value, and what happens next."""

import json

import pytest
from runs import ASK, TEXT

TWO = """
perdure: 1
parallel:
  - {id: left, ask: "Left?"}
  - {id: right, ask: "Which?", answer: choice, choices: [tea, coffee], on: {tea: done, coffee: done}}
"""


def asking(kind):
    return f"perdure: 1\nsteps: [{{id: it, ask: What?, {kind}}}]\noutput: ${{steps.it.output}}"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("answer: approval", "yes", True),
        ("answer: approval", "Rejected", None),
        ("answer: text", "42", "42"),
        ("answer: choice, choices: [a, b]", "b", "b"),
        ("answer: form, form: {type: object, properties: {n: {type: integer}}}", '{"n": 3}', {"n": 3}),
    ],
)
def test_a_value_fits_the_kind_of_question(place, kind, value, expected):
    place.run(asking(kind), code=4)
    done = place.do("answer", "@last", value)
    assert done.stderr.startswith("q_it_1 is answered: ")
    found = place.shown()
    assert found["questions"] == {}
    assert found["output"] == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("answer: approval", "maybe"),
        ("answer: choice, choices: [a, b]", "c"),
        ("answer: form, form: {type: object, properties: {n: {type: integer}}}", '{"n": "three"}'),
        ("answer: text, to: [ann]", "hello"),
    ],
)
def test_a_value_that_does_not_fit_changes_nothing(place, kind, value):
    place.run(asking(kind), code=4)
    done = place.do("answer", "@last", value, "--by", "bob", code=2)
    assert done.stderr.startswith("error PRD3")
    assert list(place.shown()["questions"]) == ["q_it_1"]


def test_what_happens_next_is_said(place):
    place.run(ASK, code=4)
    done = place.do("approve", "@last", "--by", "ann", "-m", "fine")
    assert "goes on at publish" in done.stderr
    assert f"nobody drives it; go on with: perdure resume {place.shown()['id']} --db {place.db}" in done.stderr
    logged = place.do("logs", "@last").stdout
    assert "q_ship_1 is answered: true, by ann, fine" in logged


def test_no_is_an_answer(place):
    place.run(ASK, code=4)
    assert "failed" in place.do("reject", "@last", "ship").stderr
    assert place.shown()["steps"]["ship"]["exit"] == "rejected"


def test_the_first_answer_counts(place):
    place.run(ASK, code=4)
    found = json.loads(place.do("approve", "@last", "--json").stdout)
    assert (found["schema"], found["questions"], found["driven"]) == ("perdure.run/1", {}, False)
    assert "PRD3004" in place.do("approve", "@last", code=3).stderr
    assert "PRD3008" in place.do("reject", "@last", "q_ship_1", code=3).stderr


def test_one_of_several_has_to_be_named(place):
    place.run(TWO, code=4)
    said = place.do("approve", "@last", code=2).stderr
    assert "PRD3106" in said
    assert "q_left_1" in said
    assert "PRD3107" in place.do("approve", "@last", "right", code=2).stderr
    assert "PRD3004" in place.do("approve", "@last", "nowhere", code=3).stderr
    place.do("approve", "@last", "left")
    place.do("answer", "@last", "tea")
    assert place.shown()["status"] == "succeeded"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["answer"], 2),
        (["answer", "@last"], 3),
        (["answer", "@last", "q_ship_1", "yes", "no"], 3),
        (["answer", "r_nowhere", "yes"], 3),
        (["approve", "@last"], 3),
        (["approve"], 2),
    ],
)
def test_rubbish(place, words, code):
    place.run(TEXT)
    done = place.do(*words, code=code)
    assert "Traceback" not in done.stderr


WRITE = """
perdure: 1
policy: {ask: [writes]}
steps: [{id: note, tool: files.write, with: {path: note.txt, text: "line 1\\nline 2\\n"}}]
"""


def test_s9_what_a_rule_asks_about_is_shown_whole_and_approved_or_not(perdure, tmp_path):
    db, file = tmp_path / "runs.db", tmp_path / "work" / "note.txt"
    file.parent.mkdir()
    (tmp_path / "plan.yaml").write_text(WRITE)
    asks = perdure("run", tmp_path / "plan.yaml", "--db", db, cwd=file.parent)
    assert (asks.returncode, file.exists()) == (4, False)
    assert "  +line 2\n" in asks.stderr, "whoever says yes has seen the diff"
    assert "perdure approve" in asks.stderr
    assert perdure("approve", "@last", "--db", db, cwd=tmp_path).returncode == 0
    assert perdure("resume", "@last", "--db", db, cwd=tmp_path).returncode == 0
    assert file.read_text() == "line 1\nline 2\n"


def test_s9_a_no_leaves_everything_as_it_was(perdure, tmp_path):
    (tmp_path / "plan.yaml").write_text(WRITE)
    perdure("run", tmp_path / "plan.yaml", "--db", tmp_path / "runs.db", cwd=tmp_path)
    assert perdure("reject", "@last", "--db", tmp_path / "runs.db", cwd=tmp_path).returncode == 0
    done = perdure("resume", "@last", "--db", tmp_path / "runs.db", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "note.txt").exists()) == (1, False)


TIME = """
perdure: 1
budget: {seconds: 1, then: ask}
steps: [{id: slow, tool: time.sleep, with: {seconds: 2}}]
"""


def test_r10_a_run_that_wants_more_time_says_so_and_leaves(perdure, tmp_path):
    (tmp_path / "plan.yaml").write_text(TIME)
    asks = perdure("run", tmp_path / "plan.yaml", "--db", tmp_path / "runs.db", cwd=tmp_path)
    assert (asks.returncode, "perdure answer" in asks.stderr) == (4, True), asks.stderr
    assert perdure("answer", "@last", "30", "--db", tmp_path / "runs.db", cwd=tmp_path).returncode == 0
    assert perdure("resume", "@last", "--db", tmp_path / "runs.db", cwd=tmp_path).returncode == 0


TAKEN_BACK = """
perdure: 1
steps:
  - {id: mark, checkpoint: true}
  - {id: write, tool: files.write, with: {path: a.txt, text: hi}, retry: {attempts: 1}}
  - {id: agree, ask: "Keep it?", on: {rejected: back}}
  - {id: read, tool: files.read, with: {path: a.txt}, on: {success: done}}
  - {id: back, rollback: mark}
"""


@pytest.mark.parametrize(
    "words",
    [("approve", "@last"), ("pause", "@last"), ("stop", "--all"), ("reject", "@last")],
    ids=lambda words: words[0],
)
def test_a_message_to_a_run_that_nobody_drives_says_nothing_false(place, words):
    place.run(TAKEN_BACK, code=4)
    done = place.do(*words)
    assert "PRD" not in done.stderr
    assert "cannot be carried on" not in done.stderr
    assert " at 20" not in done.stderr, "nothing is due at an hour"


def test_who_only_brings_a_no_takes_nothing_back_and_leaves_it_to_who_goes_on(place):
    place.run(TAKEN_BACK, code=4)
    place.do("reject", "@last")
    assert "undo" not in place.do("logs", "@last").stdout
    assert (place.path / "a.txt").exists()
    place.do("resume", "@last")
    assert not (place.path / "a.txt").exists()


def test_a_number_below_zero_is_a_value(place):
    place.run(asking("answer: form, form: {type: number}"), code=4)
    place.do("answer", "@last", "q_it_1", "-2.5")
    assert place.shown()["output"] == -2.5


def test_a_typing_error_in_an_option_is_no_value(place):
    place.run(asking("answer: text"), code=4)
    assert "No such option" in place.do("answer", "@last", "-x", code=2).stderr


def test_there_is_no_half_step_to_give(place):
    two = "{id: a, tool: flow.echo, with: {value: 1}}, {id: b, tool: flow.echo, with: {value: 2}}"
    place.run(f"perdure: 1\nbudget: {{steps: 1, then: ask}}\nsteps: [{two}]", code=4)
    assert "whole number: steps are counted one by one" in place.do("answer", "@last", "2.5", code=2).stderr
    place.do("answer", "@last", "2")


def test_who_says_no_is_heard_in_the_failure(place):
    place.run(asking("answer: approval"), code=4)
    place.do("reject", "@last", "-m", "too early")
    assert place.shown()["failure"]["message"] == "it ended with rejected: too early"
    assert "try again with" in place.do("resume", "@last", code=1).stderr


def test_nobody_is_told_to_try_what_fails_again_at_once(place):
    also = "{id: b, tool: flow.echo, when: 1 == 1, with: {value: 2}}"
    steps = f"steps: [{{id: a, tool: flow.echo, with: {{value: 1}}}}, {also}]"
    done = place.run(f"perdure: 1\nbudget: {{steps: 1, then: fail}}\n{steps}", code=8)
    assert "try again" not in done.stderr


def test_a_secret_that_is_missing_is_said_where_to_put(place):
    done = place.run("perdure: 1\nsteps: [{id: a, tool: flow.echo, with: {value: '${secrets.MAIL}'}}]", code=6)
    assert (
        'nobody has given the secret "MAIL" (help: put it into PERDURE_SECRET_MAIL, or into secrets.toml)'
        in done.stderr
    )


def test_a_field_that_does_not_fit_is_told_by_where_it_was_given(place):
    form = "{type: object, properties: {n: {type: integer}}}"
    place.run(f"perdure: 1\nsteps: [{{id: size, ask: How many?, form: {form}}}]", code=4)
    said = place.do("answer", "@last", "n=abc", code=2).stderr
    assert "Invalid value for VALUE: n=abc: integer is wanted" in said
