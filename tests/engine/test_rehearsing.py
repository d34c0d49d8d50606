"""E6: a rehearsal shows what a plan would do, and touches nothing."""

import subprocess

import pytest

from perdure import Agent, Context, Engine, Plan, tool
from perdure.core.policy import Deed
from perdure.plan.model.parts import Policy
from perdure.testing.models import ScriptedModel

CALLS = []


@tool(name="shop.order", effects=["network", "irreversible"], hosts=["shop.example:443"], estimate={"usd": 2})
def order(article: str) -> dict[str, str]:
    """Order something."""
    CALLS.append(article)
    return {"number": "7"}


@tool(name="shop.total", repeat="safe", effects=[])
def total(prices: list[int]) -> int:
    """Add up."""
    return sum(prices)


def plan_of(*steps, **more):
    return Plan.model_validate({"steps": list(steps), **more})


OPEN = Policy.model_validate({"network": ["shop.example:443"]})


async def rehearsed(plan, inputs=None, **settings):
    CALLS.clear()
    settings.setdefault("policy", OPEN)
    async with Engine.open(tools=[order, total], **settings) as engine:
        found = await engine.rehearse(plan, inputs)
        assert await engine.journal.runs() == []
    assert CALLS == []
    return found


async def test_what_does_nothing_to_the_world_is_done_and_the_rest_is_assumed():
    found = await rehearsed(
        plan_of(
            {"id": "sum", "tool": "shop.total", "with": {"prices": [1, 2]}},
            {"id": "buy", "tool": "shop.order", "with": {"article": "A-${steps.sum.output}"}},
            output="${steps.sum.output}",
        )
    )
    assert (found.status, found.output) == ("succeeded", 3)
    assert found.steps == [("sum", "success"), ("buy", "success")]
    assert [step for step, _ in found.unforeseen] == ["buy"]
    assert found.costs == {"usd": 2}


async def test_what_the_rules_would_say_is_shown():
    policy = Policy.model_validate({"network": ["shop.example:443"], "ask": ["irreversible"]})
    step = {"id": "buy", "tool": "shop.order", "with": {"article": "A"}}
    found = await rehearsed(plan_of(step), policy=policy)
    assert [(step, "irreversible" in text) for step, text in found.questions] == [("buy", True)]
    assert ("connect", "shop.example:443") in [(each.deed.kind, each.deed.what) for each in found.deeds]
    found = await rehearsed(plan_of(step), policy=Policy.model_validate({"network": []}))
    assert (found.status, "shop.example" in found.failure) == ("failed", True)


async def test_people_say_yes_clocks_jump_and_signals_come():
    found = await rehearsed(
        plan_of(
            {"id": "may", "ask": "May I?", "answer": "approval"},
            {"id": "which", "ask": "Which?", "answer": "choice", "choices": ["red", "blue"]},
            {"id": "night", "wait": "8h"},
            {"id": "mail", "wait": {"signal": "mail"}},
            {
                "id": "think",
                "model": "weak",
                "prompt": "hm",
                "returns": {"type": "object", "properties": {"n": {"type": "integer"}}},
            },
            output="${steps.think.output.n}",
        )
    )
    assert (found.status, found.output) == ("succeeded", 0)
    assert [step for step, _ in found.questions] == ["may", "which"]
    assert [step for step, _ in found.unforeseen] == ["mail", "think"]


async def test_what_an_earlier_run_gave_is_taken_for_granted():
    plan = plan_of({"id": "buy", "tool": "shop.order", "with": {"article": "A"}}, output="${steps.buy.output.number}")
    async with Engine.open(tools=[order], policy=OPEN) as engine:
        run = await engine.start(plan)
        await run.result()
        CALLS.clear()
        found = await engine.rehearse(plan, like=run.id)
    assert (found.output, found.unforeseen, CALLS) == ("7", [], [])


@pytest.mark.timeout(20)
async def test_a_long_sleep_is_not_slept():
    found = await rehearsed(plan_of({"id": "s", "tool": "time.sleep", "with": {"seconds": 3000}}))
    assert (found.status, found.steps) == ("succeeded", [("s", "success")])


async def test_files_are_changed_on_a_copy_alone(tmp_path):
    @tool(name="mine.write", effects=["writes"], staged=True)
    def write(name: str, context: Context) -> None:
        """Write a file."""
        (context.hands.workspace / name).write_text("new\n")
        (context.hands.workspace / "old").unlink()

    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "old").write_text("was here\n")
    plan = plan_of({"id": "w", "tool": "mine.write", "with": {"name": "a"}})
    async with Engine.open(tools=[write], workspace=tmp_path / "ws") as engine:
        found = await engine.rehearse(plan)
    assert [each.name for each in (tmp_path / "ws").iterdir()] == ["old"]
    assert "+++ b/a\n@@ -0,0 +1 @@\n+new\n" in found.diff
    assert "--- a/old\n+++ /dev/null\n" in found.diff


# ------------------------------------------------------------------------------- commands


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


def told_of(found, kind):
    return [(each.deed.what, each.verdict) for each in found.deeds if each.deed.kind == kind]


async def test_a_command_is_really_run_on_the_copy(workspace):
    step = {"id": "s", "tool": "shell.run", "with": {"command": "touch here.txt; printf hi; exit 0"}}
    found = await rehearsed(plan_of(step, output="${steps.s.output.stdout}"), workspace=workspace)
    assert (found.status, found.output, found.diff) == ("succeeded", "hi", "here.txt: added, empty\n")
    assert (found.unforeseen, list(workspace.iterdir())) == ([], [])


@pytest.mark.parametrize("tier", ["none", "landlock"])
@pytest.mark.parametrize("name", ["shell.run", "python.run"])
async def test_no_command_is_run_that_nothing_keeps_on_the_copy(workspace, tmp_path, tier, name):
    mark = tmp_path / "escaped"
    word, text = ("command", f"touch {mark}") if name == "shell.run" else ("code", f"open({str(mark)!r}, 'w')")
    policy = Policy.model_validate({"commands": {"ask": [["*"]]}})
    step = {"id": "s", "tool": name, "with": {word: text}}
    found = await rehearsed(plan_of(step), workspace=workspace, tier=tier, policy=policy)
    assert (found.status, mark.exists()) == ("succeeded", False)
    assert [verdict for _, verdict in told_of(found, "run")][:1] == ["ask"]
    assert [step for step, _ in found.questions] == ["s"]
    assert [(step, "not done" in text) for step, text in found.unforeseen] == [("s", True)]


async def test_a_plan_cannot_say_itself_what_keeps_it_on_the_copy(workspace, tmp_path):
    mark = tmp_path / "escaped"
    plan = plan_of({"id": "s", "tool": "shell.run", "with": {"command": f"touch {mark}", "hands": {"tier": "bwrap"}}})
    async with Engine.open(workspace=workspace, tier="none", performer=object()) as engine:
        found = await engine.rehearse(plan)
    assert (found.status, "hands" in found.failure, mark.exists()) == ("failed", True, False)


async def test_what_would_be_read_from_an_undone_command_is_not_said_to_fail(workspace):
    build = {"id": "build", "tool": "shell.run", "with": {"command": "echo 1 > made.txt"}}
    look = {"id": "look", "tool": "files.read", "with": {"path": "made.txt"}}
    found = await rehearsed(plan_of(build, look), workspace=workspace, tier="none")
    assert (found.status, [step for step, _ in found.unforeseen]) == ("unforeseen", ["build", "look"])
    found = await rehearsed(plan_of(look, build), workspace=workspace, tier="none")
    assert found.status == "failed"


# ------------------------------------------------------------------------------- tools that judge themselves

GET = {"id": "g", "tool": "http.get", "with": {"url": "https://shop.example/a"}}
SEND = {"id": "g", "tool": "http.request", "with": {"method": "POST", "url": "https://shop.example/a", "json": {}}}
CURL = {"id": "g", "tool": "shell.run", "with": {"command": ["curl", "x"], "network": ["shop.example:443"]}}
CODE = {"id": "g", "tool": "python.run", "with": {"code": "1", "network": ["shop.example:443"]}}
OUTWARD = pytest.mark.parametrize("step", [GET, SEND, CURL, CODE], ids=lambda each: each["tool"])


@OUTWARD
async def test_a_host_that_is_not_allowed_is_denied_in_a_rehearsal_too(workspace, step):
    policy = Policy.model_validate({"network": ["other.example:443"]})
    found = await rehearsed(plan_of(step), workspace=workspace, policy=policy)
    assert (found.status, "shop.example:443" in found.failure) == ("failed", True)
    assert told_of(found, "connect") == [("shop.example:443", "deny")]


@OUTWARD
async def test_a_host_that_is_allowed_is_shown_and_one_that_is_asked_about_is_asked(workspace, step):
    found = await rehearsed(plan_of(step), workspace=workspace)
    assert (found.status, found.questions) == ("succeeded", [])
    assert told_of(found, "connect") == [("shop.example:443", "allow")]
    policy = Policy.model_validate({"network": {"allow": ["shop.example:443"], "ask": ["shop.example:443"]}})
    found = await rehearsed(plan_of(step), workspace=workspace, policy=policy)
    assert (found.status, [step for step, _ in found.questions]) == ("succeeded", ["g"])
    assert ("shop.example:443", "ask") in told_of(found, "connect")


async def test_a_command_that_is_denied_is_denied_in_a_rehearsal_too(workspace):
    policy = Policy.model_validate({"network": ["shop.example:443"], "commands": {"deny": [["curl", "*"]]}})
    found = await rehearsed(plan_of(CURL), workspace=workspace, policy=policy)
    assert (found.status, told_of(found, "run")) == ("failed", [("curl", "deny")])


async def test_what_lies_behind_our_own_walls_is_denied_in_a_rehearsal_too(workspace):
    step = {"id": "g", "tool": "http.get", "with": {"url": "http://127.0.0.1:9/"}}
    policy = Policy.model_validate({"network": ["*:9"]})
    found = await rehearsed(plan_of(step), workspace=workspace, policy=policy)
    assert (found.status, "not public" in found.failure) == ("failed", True)


async def test_a_push_is_judged_and_asked_about_and_not_made(workspace, git_remote):
    step = {"id": "p", "tool": "git.push", "with": {"branch": "main"}}
    found = await rehearsed(plan_of(step), workspace=workspace)
    assert (found.status, [step for step, _ in found.questions]) == ("succeeded", ["p"])
    assert told_of(found, "use")[:1] == [("git:remote/origin/refs/heads/main", "ask")]
    far = {"id": "p", "tool": "git.push", "with": {"branch": "main", "remote": "https://git.example/a.git"}}
    found = await rehearsed(plan_of(far), workspace=workspace)
    assert (found.status, told_of(found, "connect")) == ("failed", [("git.example:443", "deny")])
    assert git("for-each-ref", at=git_remote) == ""


async def test_nothing_of_a_linked_worktree_is_touched_and_nothing_is_said_to_fail(workspace, git_remote, tmp_path):
    git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side", at=workspace)
    (tmp_path / "linked" / "new.txt").write_text("new")
    before = git("for-each-ref", at=workspace)
    commit = {"id": "c", "tool": "git.commit", "with": {"message": "more", "paths": ["new.txt"]}}
    push = {"id": "p", "tool": "git.push", "with": {"branch": "side"}}
    found = await rehearsed(plan_of(commit, push), workspace=tmp_path / "linked")
    assert (found.status, git("for-each-ref", at=workspace)) == ("succeeded", before)
    assert {step for step, _ in found.unforeseen} == {"c", "p"}


def git(*words, at):
    return subprocess.run(["git", *words], cwd=at, check=True, capture_output=True, text=True).stdout  # noqa: S607  as the user has it


@pytest.fixture
def git_remote(workspace, tmp_path):
    """The workspace is a repository with one commit, and with a remote that has none."""
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", str(remote), at=tmp_path)
    git("init", "-q", "-b", "main", at=workspace)
    git("remote", "add", "origin", str(remote), at=workspace)
    who = ("-c", "user.name=A", "-c", "user.email=a@b.example")
    git(*who, "commit", "-q", "--allow-empty", "-m", "first", at=workspace)
    return remote


async def test_a_tool_of_ones_own_says_what_it_will_have_judged():
    def foresee(context: Context, host: str) -> None:
        context.guard.check([Deed("connect", f"{host}:443")])

    @tool(name="mine.send", effects=["network"], judges=True, foresee=foresee)
    def send(host: str, context: Context) -> None:
        """Send."""
        foresee(context, host)
        CALLS.append(host)

    plan = plan_of({"id": "s", "tool": "mine.send", "with": {"host": "shop.example"}})
    for policy, status in ((OPEN, "succeeded"), (Policy.model_validate({"network": []}), "failed")):
        async with Engine.open(tools=[send], policy=policy) as engine:
            assert ((await engine.rehearse(plan)).status, CALLS) == (status, [])


# ------------------------------------------------------------------------------- what nobody knows

SECRET = "s3cr3t-of-ours"  # noqa: S105  it is none


async def test_secrets_are_some_text_and_never_themselves(workspace):
    (workspace / "has.txt").write_text(f"{SECRET}\n")
    run = {"id": "s", "tool": "shell.run", "with": {"command": "printf %s $T > new.txt", "env": {"T": "${secrets.T}"}}}
    spill = {"id": "r", "tool": "shell.run", "with": {"command": "cat has.txt; echo more >> has.txt"}}
    send = {"id": "h", "tool": "http.get", "with": {"url": "https://shop.example/?k=${secrets.T}"}}
    found = await rehearsed(
        plan_of(run, spill, send, output="${steps.r.output}"), workspace=workspace, secrets={"T": SECRET}
    )
    assert (found.status, SECRET in repr(found)) == ("succeeded", False)
    assert {"s", "h"} <= {step for step, _ in found.unforeseen}


async def test_a_secret_that_is_missing_is_missed_as_in_a_run():
    plan = plan_of({"id": "e", "tool": "flow.echo", "with": {"value": "${secrets.T}"}})
    async with Engine.open(secrets={"OTHER": SECRET}) as engine:
        found = await engine.rehearse(plan)
        result = await (await engine.start(plan)).result()
    assert (found.status, found.failure) == ("failed", f"e: {result.failure.message}")


ASKED = {"id": "p", "model": "weak", "prompt": "hm", "returns": {"type": "object"}}


@pytest.mark.parametrize(
    "rest",
    [
        {"steps": [{"id": "q", "tool": "flow.echo", "with": {"value": "${steps.p.output.file}"}}]},
        {"steps": [{"id": "q", "tool": "flow.echo", "with": {"value": 1}, "when": "steps.p.output.n > 2"}]},
        {"steps": [{"id": "q", "map": "${steps.p.output.items}", "steps": [{"id": "r", "wait": "1s"}]}]},
        {"steps": [{"id": "q", "tool": "shop.total", "with": {"prices": "${steps.p.output}"}}]},
        {"steps": [], "output": "${steps.p.output.file}"},
    ],
    ids=["part", "condition", "items", "argument", "output"],
)
async def test_a_failure_on_a_value_that_nobody_knows_is_not_foreseen(rest):
    found = await rehearsed(plan_of(ASKED, *rest.pop("steps"), **rest))
    assert (found.status, bool(found.failure)) == ("unforeseen", True)


async def test_a_failure_that_hangs_on_nothing_unknown_is_foreseen():
    step = {"id": "q", "tool": "shop.total", "with": {"prices": "${inputs.n}"}}
    found = await rehearsed(plan_of(ASKED, step, inputs={"n": {}}), {"n": 3})
    assert found.status == "failed"


async def test_what_is_denied_is_denied_whatever_is_sent(workspace):
    step = {**SEND, "with": {**SEND["with"], "json": "${steps.p.output}"}}
    policy = Policy.model_validate({"network": []})
    found = await rehearsed(plan_of(ASKED, step), workspace=workspace, policy=policy)
    assert found.status == "failed"


@pytest.mark.parametrize("step", [{"agent": "clerk"}, {"agent": "any", "skills": ["law"]}])
async def test_e6_what_an_agent_would_do_is_not_foreseen_and_no_model_is_asked(step):
    def never(request):
        raise AssertionError("nobody is to be asked")

    returns = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    plan = plan_of({"id": "do", "task": "x", "returns": returns, **step}, output="${steps.do.output.n}")
    clerk = Agent(name="clerk", skills=("law",))
    found = await rehearsed(plan, agents=[clerk], models={"default": ScriptedModel(never)})
    assert found.status == "succeeded"
    assert any(where == "do" and "agent" in why for where, why in found.unforeseen)
