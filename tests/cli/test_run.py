"""E16: `perdure run`: what it prints, what it ends with, and what is left when it is stopped in the middle."""

import json
import re
import signal

import pytest
from program import held
from runs import ASK, FAIL, HELLO, TEXT, WAIT, on_a_terminal, until

TOOLS = ("--tools", "deeds")


# ------------------------------------------------------------ what it prints


def test_the_id_comes_first_and_the_output_last(place):
    done = place.run(HELLO, "-i", "name=Ada")
    assert re.fullmatch(r"run r_[0-9a-z]{26}", done.stderr.splitlines()[0])
    assert json.loads(done.stdout) == {"name": "Ada", "times": 1, "more": None}
    assert "greet  done: " in done.stderr
    assert done.stderr.splitlines()[-1].endswith(" succeeded")


def test_an_output_that_is_text_is_printed_as_text(place):
    assert place.run(TEXT).stdout == "one\ntwo\n"


def test_one_document_at_the_end(place):
    done = place.run(HELLO, "--json", "-i", "name=Ada", "--session", "s_1")
    found = json.loads(done.stdout)
    assert done.stderr.splitlines() == [f"run {found['id']}"]
    assert found["schema"] == "perdure.run/1"
    assert (found["status"], found["failure"], found["cause"], found["questions"]) == ("succeeded", None, None, {})
    assert found["output"]["name"] == "Ada"
    assert found["session"] == "s_1"
    assert found["steps"]["greet"]["exit"] == "success"
    assert found["usage"]["attempts"] == 1
    assert found == place.shown()


def test_every_event_as_a_line(place):
    lines = [json.loads(line) for line in place.run(HELLO, "--jsonl", "-i", "name=Ada").stdout.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert (lines[0]["type"], lines[-1]["type"]) == ("run_started", "run_ended")
    assert lines[0]["body"]["goal"] == "Greet Ada"


def test_a_failure_names_the_step_and_the_reason(place):
    done = place.run(FAIL, code=1)
    assert "failed in bad: logic: no luck" in done.stderr
    assert f"perdure retry {done.stderr.split()[1]} --db {place.db}" in done.stderr
    assert done.stdout == ""
    found = place.shown()
    assert (found["cause"], found["failure"]["kind"]) == ("bad", "logic")


FRUGAL = """
perdure: 1
budget: {{steps: 1, then: {}}}
steps:
  - {{id: a, tool: flow.echo, with: {{value: 1}}}}
  - {{id: b, tool: flow.echo, when: 1 == 1, with: {{value: 2}}}}
"""


def test_e7_a_run_out_of_budget_fails_finishes_or_asks(place):
    failed = place.run(FRUGAL.format("fail"), code=8)
    assert "budget: the budget of the run is used up: 1 of 1 steps spent" in failed.stderr
    finished = place.run(FRUGAL.format("finish"))
    assert (finished.stdout, "when its budget was used up" in finished.stderr) == ("1\n", True)
    assert place.shown()["usage"]["budgets"][""]["steps"] == {"spent": 1, "reserved": 0, "limit": 1, "overrun": 0}
    asked = place.run(FRUGAL.format("ask"), code=4)
    assert "perdure answer" in asked.stderr
    assert "NUMBER" in asked.stderr
    place.do("answer", "@last", "4")
    assert "spent   the run: 1 of 5 steps" in place.do("show", "@last").stdout
    assert place.do("resume", "@last").stdout == "2\n"


def test_an_exhausted_budget_has_a_code_of_its_own(place):
    place.run(FAIL.replace("kind: logic", "kind: budget"), code=8)


def test_hidden_characters_are_shown_and_not_sent(place):
    text = 'perdure: 1\nsteps: [{id: bad, tool: flow.fail, with: {message: "a\\u001b]0;x\\u0007b\\u202e"}}]'
    done = place.run(text, code=1)
    assert "\x1b" not in done.stderr
    assert "\\u001b]0;x\\u0007b\\u202e" in done.stderr


def test_the_seed_is_recorded(place):
    done = place.run(TEXT, "--seed", 5, "--jsonl")
    assert json.loads(done.stdout.splitlines()[0])["body"]["seed"] == 5


# ------------------------------------------------------------ inputs


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-i", "name=42"], {"name": "42", "times": 1}),
        (["-i", "name=a=b", "-i", "times=3"], {"name": "a=b", "times": 3}),
        (["-i", "name=@text"], {"name": "from a file", "times": 1}),
        (["-i", "name=x", "-i", 'more={"a": [1]}'], {"name": "x", "times": 1, "more": {"a": [1]}}),
        (["--inputs", "inputs.json"], {"name": "Grace", "times": 9}),
        (["--inputs", "inputs.json", "-i", "times=2"], {"name": "Grace", "times": 2}),
    ],
)
def test_inputs_come_in_many_ways(place, words, expected):
    (place.path / "text").write_text("from a file")
    (place.path / "inputs.json").write_text('{"name": "Grace", "times": 9}')
    assert json.loads(place.run(HELLO, *words).stdout) == {"more": None} | expected


def test_a_large_input_is_seen_by_the_first_step(place):
    (place.path / "text").write_text("x" * 100_000)
    assert json.loads(place.run(HELLO, "-i", "name=@text").stdout)["name"] == "x" * 100_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "PRD3101"),
        (["-i", "name"], "not of the form name=value"),
        (["-i", "name=x", "-i", "times=many"], "integer is wanted"),
        (["-i", "name=x", "-i", "times=1.5"], "PRD3101"),
        (["-i", "name=x", "-i", "nmae=y"], "PRD3101"),
        (["-i", "name=@nowhere"], "cannot read nowhere"),
        (["--inputs", "list.json"], "does not hold an object"),
        (["--inputs", "deeds.py"], "is not JSON"),
        (["-i", "name=x", "--json", "--jsonl"], "both want standard output"),
        (["-i", "name=x", "--timeout", "0"], "--timeout"),
        (["-i", "name=x", "--tools", "nowhere"], "PRD5005"),
        (["-i", "name=x", "--tools", "deeds:wrote"], "PRD5005"),
    ],
)
def test_rubbish_is_refused_before_anything_runs(place, words, said):
    (place.path / "list.json").write_text("[]")
    done = place.run(HELLO, *words, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert place.perdure("ls", "--db", place.db).stdout == ""


# ------------------------------------------------------------ plans that cannot be used


def test_problems_are_said_as_check_says_them(place):
    broken = "perdure: 1\nsteps:\n  - {id: a, tool: flow.ehco, with: {value: 1}}\n  - {id: a, ask: Why?}\n"
    done = place.run(broken, code=6)
    assert 'did you mean "flow.echo"?' in done.stderr
    assert len([line for line in done.stderr.splitlines() if " PRD1" in line]) == 2
    assert not place.db.exists()
    told = json.loads(place.run(broken, "--json", code=6).stderr)
    assert told["schema"] == "perdure.error/1"


def test_a_plan_that_is_not_there(place):
    place.do("run", "nowhere.yaml", code=3)


def test_where_nobody_can_make_a_file_the_place_is_told(place):
    done = place.perdure("run", "-", "--db", "/proc/runs.db", stdin=TEXT)
    assert done.returncode == 1
    assert done.stderr.startswith("error PRD1001: cannot go on: /proc/runs.db.hands: No such file or directory")


def test_a_plan_from_standard_input(place):
    assert place.do("run", "-", stdin=TEXT).stdout == "one\ntwo\n"


# ------------------------------------------------------------ waiting


def test_a_run_that_waits_for_a_person_says_how_to_answer(place):
    done = place.run(ASK, code=4)
    run = done.stderr.split()[1]
    assert "ship asks: Ship build 7?" in done.stderr
    commands = re.findall(r"^(?:  |then go on with: )(perdure .*)$", done.stderr, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["approve", "reject", "resume"]
    for command, code in ((commands[0], 0), (commands[2], 0)):
        again = place.perdure(*command.split()[1:])
        assert again.returncode == code, again.stderr
    assert again.stdout == "published\n"
    assert place.shown(run)["status"] == "succeeded"


def test_how_to_answer_is_said_beside_the_lines_of_json(place):
    done = place.run(ASK, "--jsonl", code=4)
    assert json.loads(done.stdout.splitlines()[-1])["type"] == "question_asked"
    assert "perdure approve" in done.stderr


def test_a_run_that_waits_for_a_signal(place):
    done = place.run("perdure: 1\nsteps: [{id: pay, wait: {signal: paid}}]", code=4)
    assert f"perdure signal {done.stderr.split()[1]} paid --db {place.db}" in done.stderr


def test_a_later_hour_is_not_waited_for_but_a_near_one_is(place):
    place.run("perdure: 1\nsteps: [{id: nap, wait: {for: 1h}}]", code=4)
    place.run("perdure: 1\nsteps: [{id: nap, wait: {for: 300ms}}]", code=0)


def test_an_answer_from_another_process_while_the_first_waits(place):
    with place.going("run", place.plan(ASK), "--wait") as going:
        going.says("asks q_ship_1")
        said = place.do("approve", going.run, "-m", "looks good", "--by", "ann").stderr
        assert "nobody drives it" not in said
        going.ends(0)
        assert going.out == "published\n"
        assert "q_ship_1 is answered: true, by ann, looks good" in going.err


# ------------------------------------------------------------ leaving before the end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_once_pauses_at_a_safe_point_and_resume_finishes(place, number):
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        going.send(number)
        going.says("safe point")
        place.let("one")
        going.ends(130)
        command = f"perdure resume {going.run} --db {place.db} --tools deeds"
        assert going.err.splitlines()[-1] == f"run {going.run} is paused; resume with: {command}"
    found = place.shown()
    assert (found["status"], found["steps"]["first"]["exit"]) == ("paused", "success")
    assert found["usage"]["attempts"] == 1
    assert place.is_replayed() == "paused"
    done = place.perdure(*command.split()[1:])
    assert (done.returncode, done.stdout) == (0, "two\n")
    assert place.deeds() == ["begun one", "two"]


def test_what_does_not_end_in_time_is_left(place):
    with place.going("run", place.plan(WAIT), *TOOLS, "--patience", "0.2") as going:
        until(place.deeds, "the first step")
        going.send()
        going.ends(130)
    assert place.is_replayed() == "paused"
    place.let("one")
    assert place.do("resume", "@last", *TOOLS).stdout == "two\n"


@pytest.mark.parametrize("tool", ["deed.wait, with: {name: one}", "deed.block"])
def test_ctrl_c_twice_leaves_at_once_and_the_journal_is_right(place, tool):
    plan = place.plan(f"perdure: 1\nsteps: [{{id: first, tool: {tool}}}]")
    with place.going("run", plan, *TOOLS, "--patience", "600") as going:
        until(place.deeds, "the first step")
        going.send()
        if "wait" in tool:
            going.says("safe point")
        until(lambda: going.send() or going.process.poll() is not None, "the end")
        going.ends(130)
    assert place.is_replayed() in {"running", "paused"}
    place.let("one")
    if "wait" in tool:
        place.do("resume", "@last", *TOOLS)


def test_a_timeout_pauses_the_run(place):
    done = place.run(WAIT, *TOOLS, "--timeout", "0.5", "--patience", "0.1", code=124)
    assert f"run {done.stderr.split()[1]} is paused; resume with:" in done.stderr
    assert place.shown()["status"] == "paused"


def test_kill_in_the_middle_then_resume(place):
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        run = going.run
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
    assert place.is_replayed() == "running"
    place.let("one")
    done = place.do("resume", run, *TOOLS)
    assert done.stdout == "two\n"
    assert "nobody saw the end of the attempt" in done.stderr
    assert "the run starts" not in done.stderr
    assert place.deeds() == ["begun one", "begun one", "two"]


def test_a_deed_that_may_not_be_repeated_is_asked_about_after_a_crash(place):
    plan = "perdure: 1\nsteps: [{id: pay, tool: deed.once, with: {name: one}}]\noutput: ${steps.pay.output}"
    with place.going("run", place.plan(plan), *TOOLS) as going:
        until(place.deeds, "the deed")
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
    done = place.do("resume", "@last", *TOOLS, code=4)
    answers = re.findall(r"^  (perdure answer .*)$", done.stderr, re.MULTILINE)
    assert len(answers) == 4
    assert place.deeds() == ["begun one"]


def test_cancelled_from_another_process(place):
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        place.do("cancel", going.run, "-m", "not today")
        going.ends(5)
        assert "not today" in going.err


# ------------------------------------------------------------ in the background


def test_a_detached_run_goes_on_without_its_parent(place):
    done = place.run(WAIT, *TOOLS, "--detach")
    run = done.stdout.strip()
    assert re.fullmatch(r"r_[0-9a-z]{26}", run)
    until(place.deeds, "the first step")
    place.let("one")
    assert place.do("watch", run).stdout == "two\n"
    log = (place.path / "runs.db.log").read_text()
    assert f"run {run} is driven by process" in log
    assert (place.path / "runs.db.log").stat().st_mode & 0o777 == 0o600


def test_a_detached_run_waits_for_its_answer(place):
    run = place.run(ASK, "--detach", "--json").stdout
    run = json.loads(run)["id"]
    until(lambda: place.shown(run)["questions"], "the question")
    assert "nobody drives it" not in place.do("approve", run).stderr
    assert place.do("watch", run).stdout == "published\n"


def test_what_keeps_a_detached_run_from_starting_is_told(place):
    assert "PRD3101" in place.run(HELLO, "--detach", code=2).stderr


# ------------------------------------------------------------ two at once


def test_a_second_process_has_its_run_started_by_the_first(place):
    with place.going("run", place.plan(WAIT, "first.yaml"), *TOOLS) as first:
        until(place.deeds, "the first run")
        done = place.run(HELLO, "-i", "name=Ada")
        assert json.loads(done.stdout)["name"] == "Ada"
        place.let("one")
        first.ends(0)
    assert place.perdure("ls", "--db", place.db).stdout.count("succeeded") == 2


def test_the_first_stays_for_what_the_second_has_started(place):
    with place.going("run", place.plan(WAIT, "first.yaml"), *TOOLS) as first:
        until(place.deeds, "the first run")
        second = WAIT.replace("name: one", "name: other")
        with place.going("run", place.plan(second, "second.yaml"), *TOOLS) as other:
            until(lambda: "begun other" in place.deeds(), "the second run")
            place.let("one")
            first.says("staying for")
            place.let("other")
            assert other.ends(0).out == first.ends(0).out == "two\n"


def test_a_follower_takes_over_when_the_owner_is_killed(place):
    with place.going("run", place.plan(WAIT, "first.yaml"), *TOOLS) as first:
        until(place.deeds, "the first run")
        second = WAIT.replace("name: one", "name: other")
        with place.going("run", place.plan(second, "second.yaml"), *TOOLS) as other:
            until(lambda: "begun other" in place.deeds(), "the second run")
            first.kill()
            until(lambda: place.deeds().count("begun other") == 2, "the second attempt")
            place.let("other")
            assert other.ends(0).out == "two\n"
            assert other.err.count("the run starts") == 1


def test_an_owner_without_the_tools_is_not_asked_to_fail(place):
    slow = "perdure: 1\nsteps: [{id: nap, tool: time.sleep, with: {seconds: 600}}]"
    with place.going("run", place.plan(slow, "first.yaml")) as first:
        first.says("nap  at work")
        done = place.run(WAIT, *TOOLS, code=75)
        assert "PRD3104" in done.stderr
        assert "deed.wait" in done.stderr
    assert place.perdure("ls", "--db", place.db).stdout.count("\n") == 1


def test_a_plan_that_is_too_long_for_the_owners_socket_says_what_to_do(place):
    slow = "perdure: 1\nsteps: [{id: nap, tool: time.sleep, with: {seconds: 600}}]"
    words = "word " * 50_000
    long = "perdure: 1\nsteps:\n" + "".join(
        f"  - {{id: s{n}, tool: flow.echo, with: {{value: {words}}}}}\n" for n in range(10)
    )
    with place.going("run", place.plan(slow, "first.yaml")) as first:
        first.says("nap  at work")
        told = place.run(long, code=75).stderr
        assert "PRD2309" in told
        assert "at most 2,000,000" in told
        assert "--db" in told
    assert place.perdure("ls", "--db", place.db).stdout.count("\n") == 1


def test_a_journal_that_something_else_holds_is_locked(place):
    place.run(TEXT)
    with held(place.db):
        assert "PRD2101" in place.run(TEXT, code=75).stderr


def test_ctrl_c_on_a_run_that_another_process_drives_pauses_it_there(place):
    with place.going("run", place.plan(WAIT, "first.yaml"), *TOOLS):
        until(place.deeds, "the first run")
        second = WAIT.replace("name: one", "name: other")
        with place.going("run", place.plan(second, "second.yaml"), *TOOLS) as other:
            until(lambda: "begun other" in place.deeds(), "the second run")
            assert other.run  # the owner begins it before we are told its id
            other.send()
            other.ends(130)
            assert f"run {other.run} is paused; resume with: perdure resume {other.run}" in other.err
            assert place.shown(other.run)["status"] == "paused"


# ------------------------------------------------------------ on a terminal


def test_a_live_tree_of_steps(place):
    plan = """
perdure: 1
goal: Draw
steps:
  - {id: first, tool: flow.echo, with: {value: 1}}
  - id: many
    map: "${[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}"
    steps: [{id: nap, tool: time.sleep, with: {seconds: 0.7}}]
  - {id: ok, ask: "Is it fine?"}
  - {id: last, tool: flow.echo, with: {value: 2}}
"""
    code, seen = on_a_terminal(place, "run", place.plan(plan))
    assert code == 4, seen
    assert "✓ first" in seen
    assert re.search(r"▾ many +.*of 20 over", seen)
    assert re.search(r"more +\d+ of 20 over", seen)
    assert re.search(r"▾ \[0\] .*\n +▶ nap", seen)
    assert "? ok  asks: Is it fine?" in seen
    assert "· last" in seen
    assert "perdure approve" in seen


def test_colours_can_be_switched_off_on_a_terminal(place):
    code, seen = on_a_terminal(place, "--no-color", "run", place.plan(FAIL))
    assert code == 1
    assert "✗ bad  failure" in seen


@pytest.mark.parametrize("nothing", ["", "   "])
def test_nothing_is_neither_a_goal_nor_a_file(perdure, nothing):
    done = perdure("run", nothing)
    assert (done.returncode, "say a goal or a file" in done.stderr) == (2, True)
