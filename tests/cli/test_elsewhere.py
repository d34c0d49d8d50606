"""`--server`: each command prints the same, whether the journal is here or elsewhere."""

import json
import re

import pytest
from elsewhere import elsewhere, guarded
from program import perdure as program

from perdure.cli.reaching import ask_owner
from perdure.config import load
from perdure.remote.errors import NotFromElsewhere

ASK = """
goal: Ask
steps:
  - {id: way, ask: "Which way?", choices: [left, right], on: {left: come, right: come}}
  - {id: come, wait: {signal: go}}
"""
APPROVE = 'goal: Approve\nsteps: [{id: sure, ask: "Sure?"}, {id: say, tool: flow.echo, with: {value: 7}}]\n'
HOLD = 'goal: Hold\nsteps: [{id: sure, ask: "Sure?"}, {id: come, wait: {signal: go}}]\n'
TWICE = "goal: Wait\nsteps: [{id: come, wait: {signal: go}}, {id: more, wait: {signal: on}}]\n"
WAIT = "goal: Wait\nsteps: [{id: come, wait: {signal: go}}, {id: say, tool: flow.echo, with: {value: 7}}]\n"
FAIL = "goal: Fail\nsteps: [{id: no, fail: Not today}]\n"
PLANS = {"ask": ASK, "approve": APPROVE, "wait": WAIT, "hold": HOLD, "twice": TWICE, "fail": FAIL}

SCOPES = ("read", "run", "approve")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    for name, text in PLANS.items():
        (home / f"{name}.yaml").write_text(text)
    (home / "edited.yaml").write_text(WAIT.replace("value: 7", "value: 8"))
    db = home / "runs.db"
    with elsewhere(home, db) as (url, _):
        yield Place(home, db, url)


class Place:
    def __init__(self, home, db, url):
        self.home, self.here, self.there = home, ("--db", str(db)), ("--server", url)

    def say(self, *words, **env):
        return program(*words, home=self.home, **env)

    def begun(self, plan, where):
        done = self.say("run", f"{plan}.yaml", "--detach", *where)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def same(self, words, plan="approve", codes=(0,)):
        """What a command prints here and there, each about a run of its own, without what differs between any two."""
        found = []
        for where in (self.here, self.there):
            run = self.begun(plan, where)
            done = self.say(*(run if word == "RUN" else word for word in words), *where)
            assert done.returncode in codes, done.stderr
            found.append((done.returncode, plain(done.stdout, where), plain(done.stderr, where)))
        assert found[0] == found[1]
        return found[0]


def plain(text, where):
    text = text.replace(" ".join(where), "WHERE")
    text = re.sub(r"r_[0-9a-z]{20,}", "RUN", text)
    text = re.sub(r'"owner": "[^"]+"', '"owner": WHO', text)  # elsewhere is told less of it
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(\+\d\d:\d\d|Z)?|\d\d:\d\d:\d\d", "WHEN", text)
    text = re.sub(r'"(seconds|at|number|arrival)": ?[\d.e-]+', r'"\1": N', text)
    return re.sub(r"\b[\d.]+(ms|s|m)\b", "LONG", text)


# ------------------------------------------------------------ commands that look


@pytest.fixture(scope="module")
def run(place):
    run = place.begun("approve", place.here)
    assert place.say("approve", run, *place.here).returncode == 0
    return run


@pytest.mark.parametrize(
    "words",
    [
        ("ls",),
        ("ls", "--json"),
        ("ls", "--status", "waiting", "--limit", "1"),
        ("show", "RUN"),
        ("show", "RUN", "--json"),
        ("show", "RUN", "--failures"),
        ("logs", "RUN"),
        ("logs", "RUN", "--jsonl", "--after", "2"),
        ("watch", "RUN"),
        ("watch", "RUN", "--json"),
        ("questions",),
        ("questions", "RUN", "--all", "--json"),
        ("export", "RUN", "-o", "-"),
    ],
    ids=" ".join,
)
def test_what_is_looked_at_looks_the_same(place, run, words):
    asked = [run if word == "RUN" else word for word in words]
    here, there = (place.say(*asked, *where) for where in (place.here, place.there))
    assert here.returncode == there.returncode == 0, there.stderr
    assert plain(here.stdout, place.here) == plain(there.stdout, place.there)
    assert plain(here.stderr, place.here) == plain(there.stderr, place.there)


# ------------------------------------------------------------ commands that send a message


@pytest.mark.parametrize(
    ("words", "plan", "codes"),
    [
        (("approve", "RUN", "-m", "it is time"), "hold", (0,)),
        (("approve", "RUN", "--json"), "hold", (0,)),
        (("reject", "RUN", "sure"), "approve", (0,)),
        (("answer", "RUN", "left"), "ask", (0,)),
        (("answer", "RUN", "up"), "ask", (1, 2)),
        (("signal", "RUN", "go", "7"), "twice", (0,)),
        (("pause", "RUN", "-m", "lunch"), "wait", (0,)),
        (("resume", "RUN"), "wait", (4,)),
        (("cancel", "RUN"), "wait", (0,)),
        (("cancel", "r_none"), "wait", (3,)),
        (("retry", "RUN"), "fail", (1,)),
        (("rollback", "RUN"), "wait", (0,)),
        (("fork", "RUN"), "approve", (4,)),
        (("edit", "RUN", "--file", "edited.yaml", "--yes"), "wait", (0,)),
        (("run", "fail.yaml"), "wait", (1,)),
        (("run", "approve.yaml", "--json"), "wait", (4,)),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) and isinstance(each[0], str) else "",
)
def test_what_is_done_is_done_and_told_the_same(place, words, plan, codes):
    place.same(words, plan, codes)


def test_everything_is_stopped_from_elsewhere(tmp_path):
    (tmp_path / "wait.yaml").write_text(WAIT)
    with elsewhere(tmp_path, tmp_path / "runs.db") as (url, _):
        place = Place(tmp_path, tmp_path / "runs.db", url)
        run = place.begun("wait", place.there)
        stopped = place.say("stop", "--all", "--json", *place.there)
        assert json.loads(stopped.stdout) == {"schema": "perdure.stop/1", "runs": [run]}
        assert json.loads(place.say("ls", "--json", *place.there).stdout)["runs"][0]["status"] == "cancelled"


# ------------------------------------------------------------ where the journal is


def test_the_settings_say_where_the_journal_is_and_db_says_that_it_is_here(place, run, tmp_path):
    _, url = place.there
    assert run in place.say("ls", PERDURE_SERVER=url).stdout
    assert place.say("ls", "--db", tmp_path / "other.db", PERDURE_SERVER=url).stdout == ""
    both = place.say("ls", *place.here, *place.there)
    assert both.returncode == 2
    assert "--db and --server both say" in both.stderr


def test_what_is_begun_here_in_the_background_stays_here(place, tmp_path):
    here, url = ("--db", tmp_path / "other.db"), place.there[1]
    run = place.say("run", "fail.yaml", "--detach", *here, PERDURE_SERVER=url).stdout.strip()
    assert run in place.say("ls", *here, PERDURE_SERVER=url).stdout
    assert run not in place.say("ls", "--all", PERDURE_SERVER=url).stdout


async def test_no_message_goes_elsewhere_for_a_command_that_is_given_here_alone(tmp_path):
    settings = load(env={"HOME": str(tmp_path), "PERDURE_SERVER": "http://127.0.0.1:1"}, cwd=tmp_path).settings
    with pytest.raises(NotFromElsewhere):
        await ask_owner(settings, {"do": "who"})


@pytest.mark.parametrize(
    "words",
    [
        ("gc",),
        ("import", "x.jsonl"),
        ("replay", "@last"),
        ("memory", "ls"),
        ("resume", "--all"),
        ("stats",),
        ("estimate", "@last"),
        ("estimate", "ask.yaml"),
        ("keys", "new", "ann"),
        ("keys", "ls"),
        ("open",),
        ("mcp",),
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_from_elsewhere_says_so(place, words):
    refused = place.say(*words, PERDURE_SERVER=place.there[1])
    assert refused.returncode == 2, refused.stderr
    assert "PRD6045" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_goal_is_planned_where_the_run_is(place):
    refused = place.say("run", "count the words of a file", *place.there)
    assert (refused.returncode, "PRD6045" in refused.stderr) == (2, True)


def test_a_plan_that_the_server_cannot_carry_out_is_refused_there(place):
    (place.home / "odd.yaml").write_text("goal: Odd\nsteps: [{id: odd, tool: odd.tool}]\n")
    refused = place.say("run", "odd.yaml", *place.there)
    assert refused.returncode == 75, refused.stderr
    assert "odd.tool" in refused.stderr


def test_no_key_is_sent_in_plain_text_to_another_machine(place):
    refused = place.say("ls", "--server", "http://runs.example.org", PERDURE_KEY="prd_secret")
    assert (refused.returncode, "PRD6042" in refused.stderr, "prd_secret" in refused.stderr) == (2, True, False)


def test_a_key_may_do_what_it_may_and_another_one_nothing(tmp_path):
    (tmp_path / "approve.yaml").write_text(APPROVE)
    place = Place(tmp_path, tmp_path / "runs.db", "")
    keys = {scope: place.say("keys", "new", scope, "--scope", scope, *place.here).stdout.strip() for scope in SCOPES}
    with guarded(tmp_path, tmp_path / "runs.db") as url:
        there = ("--server", url)
        run = place.say("run", "approve.yaml", "--detach", *there, PERDURE_KEY=keys["run"]).stdout.strip()
        assert run in place.say("ls", *there, PERDURE_KEY=keys["read"]).stdout
        refused = place.say("approve", run, *there, PERDURE_KEY=keys["run"])
        assert (refused.returncode, "PRD6023" in refused.stderr) == (1, True)
        (tmp_path / ".config" / "perdure").mkdir(parents=True)
        file = tmp_path / ".config" / "perdure" / "server.key"
        file.write_text(keys["approve"])
        file.chmod(0o600)
        assert place.say("approve", run, "--by", "somebody else", *there).returncode == 0
        assert "by approve" in place.say("logs", run, *there).stdout, "a key speaks in its own name"
        for wrong in ("prd_wrong", keys["run"][:-1]):
            refused = place.say("ls", *there, PERDURE_KEY=wrong)
            assert (refused.returncode, "PRD6022" in refused.stderr, wrong in refused.stderr) == (1, True, False)


def test_a_server_that_goes_away_ends_the_watching_and_not_the_run(tmp_path):
    (tmp_path / "wait.yaml").write_text(WAIT)
    with elsewhere(tmp_path, tmp_path / "runs.db") as (url, process):
        place = Place(tmp_path, tmp_path / "runs.db", url)
        run = place.begun("wait", place.there)
        process.kill()
        process.wait()
        gone = place.say("watch", run, *place.there)
        assert (gone.returncode, "PRD6040" in gone.stderr) == (75, True)
        told = place.say("pause", run, "--json", *place.there)
        assert (told.returncode, "PRD6040" in told.stdout + told.stderr) == (75, True)
    assert run in place.say("ls", *place.here).stdout
