"""E8 E16: `perdure resume`: one run or all, here, in the background, or by the process that has the journal."""

import asyncio
import json
import signal

import pytest
from runs import ASK, TEXT, WAIT, until

from perdure import Engine, Plan
from perdure.cli.resume import _to_rest
from perdure.journal import MemoryJournal
from perdure.ports import DiskFull
from perdure.testing.crashes import Disk, Fault

TOOLS = ("--tools", "deeds")


def test_a_run_that_is_over_is_only_shown(place):
    place.run(TEXT)
    before = place.shown()
    assert place.do("resume", "@last").stdout == "one\ntwo\n"
    assert place.shown() == before


def test_a_run_without_its_answer_waits_on(place):
    place.run(ASK, code=4)
    assert "perdure approve" in place.do("resume", "@last", code=4).stderr


def test_without_its_tools_a_run_is_not_touched(place):
    place.run(WAIT, *TOOLS, "--timeout", "0.3", "--patience", "0", code=124)
    before = place.shown()["entries"]
    assert "deed.wait" in place.do("resume", "@last", code=6).stderr
    assert place.shown()["entries"] == before


@pytest.mark.parametrize(("words", "code"), [(["r_1"], 3), ([], 2), (["@last", "--all"], 2), (["r_1", "r_2"], 2)])
def test_what_is_not_there_or_not_meant(place, words, code):
    place.run(TEXT)
    done = place.do("resume", *words, code=code)
    assert "Traceback" not in done.stderr


def test_there_is_no_journal(place):
    assert place.do("resume", "@last", code=3).stdout == ""
    assert not place.db.exists()


def test_all_that_were_under_way_go_on_and_paused_ones_stay(place):
    runs = []
    for name in ("one", "other"):
        with place.going("run", place.plan(WAIT.replace("name: one", f"name: {name}")), *TOOLS) as going:
            until(lambda name=name: f"begun {name}" in place.deeds(), name)
            runs.append(going.run)
            going.send(signal.SIGKILL)
            going.ends(-signal.SIGKILL)
    place.do("pause", runs[0])
    for name in ("one", "other"):
        place.let(name)
    done = place.do("resume", "--all", *TOOLS)
    assert "going on with 1 run" in done.stderr
    assert [place.shown(run)["status"] for run in runs] == ["paused", "succeeded"]


def test_all_leaves_what_it_cannot_carry_out(place):
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
    done = place.do("resume", "--all", code=1)
    assert "cannot go on: PRD3204" in done.stderr
    assert place.shown()["status"] == "running"


def test_a_run_whose_process_is_gone_is_listed_as_interrupted(place):
    def listed(*words):
        return json.loads(place.do("ls", "--json", *words).stdout)

    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        assert place.do("ls").stdout.split("\t")[1] == "running"
        assert ([run["interrupted"] for run in listed()["runs"]], str(going.process.pid) in listed()["owner"]) == (
            [False],
            True,
        )
        assert listed("--status", "interrupted")["runs"] == []
        assert place.shown()["interrupted"] is False
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
    done = place.do("ls")
    assert done.stdout.split("\t")[1] == "interrupted"
    assert "perdure resume --all --db" in done.stderr
    [run] = listed("--status", "interrupted", "--status", "failed")["runs"]
    assert (run["status"], run["interrupted"], listed()["owner"]) == ("running", True, None)
    assert (
        f"it is interrupted: no process carries it on\n  perdure resume {run['id']}"
        in place.do("show", run["id"]).stdout
    )
    assert (place.shown()["status"], place.shown()["interrupted"]) == ("running", True)
    place.let("one")
    place.do("resume", "--all", *TOOLS)
    done = place.do("ls")
    assert (done.stdout.split("\t")[1], done.stderr) == ("succeeded", "")


def test_resumed_in_the_background(place):
    run = place.run(WAIT, *TOOLS, "--timeout", "0.3", "--patience", "0", "--json", code=124)
    run = json.loads(run.stdout)["id"]
    place.let("one")
    assert place.do("resume", run, *TOOLS, "--detach").stdout.strip() == run
    assert place.do("watch", run).stdout == "two\n"


def test_resumed_by_the_process_that_has_the_journal(place):
    place.run(ASK, code=4)
    run = place.shown()["id"]
    with place.going("run", place.plan(WAIT), *TOOLS):
        until(place.deeds, "the owner")
        assert "nobody drives it" not in place.do("approve", run).stderr
        assert place.do("resume", run).stdout == "published\n"


def test_whoever_is_late_to_take_over_hands_its_run_to_the_new_owner(place):
    """Three processes: the owner dies, one follower takes the journal, and the run of the other must not stand still."""
    other = place.plan(WAIT.replace("name: one", "name: other"), "other.yaml")
    with place.going("run", place.plan(WAIT), *TOOLS) as owner:
        until(lambda: "begun one" in place.deeds(), "the owner's run")
        with place.going("run", other, *TOOLS) as second, place.going("resume", owner.run, *TOOLS) as third:
            until(lambda: "begun other" in place.deeds(), "the run that the owner drives for another")
            assert third.run == owner.run
            second.send(signal.SIGSTOP)  # so that it is late
            owner.kill()
            until(lambda: place.deeds().count("begun one") == 2, "the third process takes over")
            second.send(signal.SIGCONT)
            place.let("other")
            second.ends(0)
            assert place.shown(second.run)["status"] == "succeeded"
            assert third.process.poll() is None
            place.let("one")
            third.ends(0)


def test_nothing_to_go_on_with_is_a_document_too(place):
    place.run(ASK, code=4)
    told = json.loads(place.do("resume", "--all", "--json").stdout)
    assert told == {"schema": "perdure.resumed/1", "runs": [], "left": {}}


async def test_all_ends_with_an_error_when_a_run_cannot_be_kept(capsys):
    """A run that stands still because the disk is full never rests; whoever follows it must not wait for that."""
    full = []
    disk = Disk(MemoryJournal(), lambda *_: Fault("fail", DiskFull("no room")) if full else None)
    plan = Plan.model_validate({"steps": [{"id": "nap", "tool": "time.sleep", "with": {"seconds": 0.3}}]})
    async with Engine.open(journal=disk, patience=0) as engine:
        run = (await engine.start(plan)).id
        full.append(True)
        assert await asyncio.wait_for(_to_rest(engine, run, wait=False), 20) == 1
    assert f"run {run} cannot go on: PRD2201: no room" in capsys.readouterr().err


# ------------------------------------------------------------------------------- when the code has changed

PAY = """
perdure: 1
steps:
  - {id: pay, tool: shop.pay, with: {name: one}}
  - {id: thank, tool: shop.thank, with: {name: two}}
output: ${steps.thank.output}
"""
SHOP = '''
import asyncio
from pathlib import Path
from perdure import Context, tool

def pays(key, name):
    """The bank knows a payment by its key, and pays it once."""
    bank = Path("bank")
    if key not in (bank.read_text() if bank.exists() else ""):
        with bank.open("a") as file:
            file.write(f"{key} {name}\\n")

@tool(name="shop.PAY", repeat="keyed")
async def pay(name: str, context: Context) -> str:
    """Pay, and say so only when a file is there."""
    pays(context.key, name)
    Path("deeds").write_text("begun")
    while not Path("let").exists():
        await asyncio.sleep(0.02)
    return name

@tool(name="shop.THANK", repeat="safe")
async def thank(name: str) -> str:
    """Thank."""
    return "thanks " + name
'''


def shop(place, **names):
    text = SHOP
    for old, new in names.items():
        text = text.replace(old, new)
    (place.path / "shop.py").write_text(text)


def cut_off(place):
    """A run that was killed while it paid."""
    shop(place, PAY="pay", THANK="thank")
    with place.going("run", place.plan(PAY), "--tools", "shop") as going:
        until(place.deeds, "the payment")
        run = going.run
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
        return run


def test_a_tool_that_was_renamed_while_nobody_looked_stops_the_run_loudly_and_a_name_lets_it_go_on(place):
    run = cut_off(place)
    shop(place, PAY="settle", THANK="praise")
    before = place.shown()["entries"]
    told = place.do("resume", run, "--tools", "shop", code=6).stderr
    assert "error PRD3204" in told
    assert '"shop.pay" (called by pay)' in told
    assert '"shop.thank" (called by thank)' in told
    for way in ("--tools", "--map shop.pay=", "perdure edit", "perdure cancel"):
        assert way in told
    told = json.loads(place.do("resume", run, "--tools", "shop", "--json", code=6).stderr.splitlines()[-1])
    assert (told["code"], {each["name"] for each in told["missing"]}) == ("PRD3204", {"shop.pay", "shop.thank"})
    place.do("resume", run, "--tools", "shop", "--map", "shop.pay=shop.settle", code=6)
    assert (place.shown()["entries"], place.shown()["status"]) == (before, "running")
    place.let("let")
    names = ("--map", "shop.pay=shop.settle", "--map", "shop.thank=shop.praise")
    assert place.do("resume", run, "--tools", "shop", *names, "--by", "ann").stdout == "thanks two\n"
    assert len((place.path / "bank").read_text().splitlines()) == 1
    logged = place.do("logs", run).stdout
    assert "from now on shop.pay is called shop.settle, shop.thank is called shop.praise" in logged
    assert "by ann" in logged
    assert "shop.pay is called shop.settle" in place.do("show", run).stdout
    assert place.shown()["names"]["tools"] == {"shop.pay": "shop.settle", "shop.thank": "shop.praise"}
    place.do("replay", run)


def test_names_are_mapped_by_the_process_that_has_the_journal(place):
    """Whoever maps them needs no tools: what the names stand for is known there."""
    run = cut_off(place)
    shop(place, PAY="settle", THANK="praise")
    (place.path / "deeds").unlink()
    with place.going("run", place.plan(WAIT), "--tools", "shop", *TOOLS) as owner:
        until(place.deeds, "the owner")
        before = place.shown(run)["entries"]
        told = place.do("resume", run, "--map", "shop.pay=shop.settle", code=75).stderr
        assert 'there is no tool "shop.thank"' in told
        told = place.do(
            "resume", run, "--map", "shop.pay=shop.nothing", "--map", "shop.thank=shop.praise", code=2
        ).stderr
        assert "shop.nothing" in told
        assert (place.shown(run)["entries"], owner.process.poll()) == (before, None)
        place.let("let")
        names = ("--map", "shop.pay=shop.settle", "--map", "shop.thank=shop.praise")
        assert place.do("resume", run, *names, "--by", "ann").stdout == "thanks two\n"
        assert len((place.path / "bank").read_text().splitlines()) == 1
        assert "by ann" in place.do("logs", run).stdout
        assert place.shown(run)["names"]["tools"] == {"shop.pay": "shop.settle", "shop.thank": "shop.praise"}
        place.let("one")
        owner.ends(0)


AGAIN = """
perdure: 1
steps:
  - id: group
    retry: {attempts: 2, wait: 10m, max_wait: 10m}
    steps: [{id: look, tool: deed.wait, with: {name: one}, timeout: 300ms, retry: {attempts: 1}}]
output: ${steps.group.output}
"""


def test_a_group_that_is_to_be_done_again_is_so_after_a_kill_and_its_tries_still_count(place):
    with place.going("run", place.plan(AGAIN), *TOOLS) as going:
        until(lambda: "group  is done again" in going.err, "the pause")
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
    place.do("cancel", going.run)  # whoever goes on with it then does not wait for the ten minutes to be over
    assert "group  is done again" not in place.do("retry", going.run, *TOOLS, code=1).stderr
    assert place.shown()["steps"]["look"]["visits"] == 2
    assert place.is_replayed() == "failed"


def test_of_all_runs_those_that_cannot_go_on_are_told_and_the_others_go_on(place):
    run = cut_off(place)
    shop(place, PAY="settle", THANK="thank")
    (place.path / "deeds").unlink()
    with place.going("run", place.plan(WAIT), *TOOLS) as going:
        until(place.deeds, "the first step")
        going.send(signal.SIGKILL)
        going.ends(-signal.SIGKILL)
    place.let("one")
    done = place.do("resume", "--all", "--tools", "shop", *TOOLS, "--json", code=1)
    assert f"run {run} cannot go on: PRD3204" in done.stderr
    told = json.loads(done.stdout)
    assert (told["runs"], list(told["left"])) == ([going.run], [run])
    assert (place.shown(run)["status"], place.shown(going.run)["status"]) == ("running", "succeeded")


@pytest.mark.parametrize("words", [["--map", "a"], ["--map", "=b"], ["--map", "a=b", "--map", "a=c"]])
def test_names_are_given_in_pairs(place, words):
    place.run(TEXT)
    assert "--map" in place.do("resume", "@last", *words, code=2).stderr
    assert "one run" in place.do("resume", "--all", "--map", "a=b", code=2).stderr


def test_who_hands_on_a_message_without_the_tools_asks_nobody_about_what_was_cut_off(place):
    run = cut_off(place)
    place.do("pause", run)
    assert place.shown(run)["questions"] == {}
    place.let("let")
    assert place.do("resume", run, "--tools", "shop").stdout == "thanks two\n"
    assert len((place.path / "bank").read_text().splitlines()) == 1
