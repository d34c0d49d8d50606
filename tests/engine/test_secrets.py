"""S6: canary secrets go through everything that comes back, in every form, and are found nowhere afterwards."""

import asyncio
import contextlib
import json
import logging
import threading

import pytest
from encodings_of import cores, forms
from gates import allowing, attempt_of
from servers import Server, saying

from perdure import Engine, Plan, ToolFailure, tool
from perdure.core.calls import Approval, Outcome
from perdure.core.policy import Deed, Judgement
from perdure.engine.redacting import Redactor
from perdure.engine.secrets import Discreet, Secrets, TooShort, redacted
from perdure.tools import Context, ToolPerformer
from perdure.tools.builtin.http_ import HTTP

pytestmark = pytest.mark.anyio
TOKEN, ODD = "canary-Zq8Xv3Lw9TbN", 'canary "quoted"\\/é+%\nline two is long too'
CANARIES = {"TOKEN": TOKEN, "ODD": ODD}
LOG = logging.getLogger("some.library")


@tool(name="leak.output", repeat="safe")
def output(given: str) -> dict:
    """Gives back what it was given, in every form, and as a list of pieces."""
    long = "x" * 20_000 + given  # too long for a fact, so that it is kept as an artifact
    return {
        "forms": forms(given),
        "long": long,
        given: "a key",
        "pieces": [given[:9], given[9:]],
        "json": json.dumps(forms(given)),
    }


@tool(name="leak.failure", repeat="safe")
def failure(given: str, form: str) -> None:
    """Fails with it."""
    raise ToolFailure("invalid", f"bad: {forms(given)[form]}", detail=forms(given))


@tool(name="leak.exception", repeat="safe")
async def exception(given: str, form: str) -> None:
    """Raises with it."""
    raise ValueError(f"{'y' * 1_990} {given}" if form == "cut" else forms(given)[form])


@tool(name="leak.progress", repeat="safe")
async def progress(given: str, context: Context) -> str:
    """Tells it while it works, whole and in two pieces."""
    for n, message in enumerate([*forms(given).values(), f"now {given[:8]}", f"{given[8:]} then"]):
        context.progress(n / 20, message)
        await asyncio.sleep(0.002)
    return "done"


@tool(name="leak.log", repeat="safe")
def log(given: str, context: Context) -> str:
    """Logs it: with its own logger, with another's, with a traceback, and in a thread."""
    for form in forms(given).values():
        context.log.warning("sent %s", form)
        LOG.error("%(form)s", {"form": form})
    try:
        int(given)
    except ValueError:
        LOG.exception("it failed")
    thread = threading.Thread(target=LOG.warning, args=("in a thread: " + given,))
    thread.start()
    thread.join()
    return "done"


TOOLS = (output, failure, exception, progress, log)


def a_plan(*steps, **more):
    return Plan.model_validate({"steps": list(steps), **more})


def hits(found, secret):
    return sorted(core for core in cores(secret) if core.encode() in found)


async def asked(engine, run):
    """The id of the question that a run comes to."""
    seq = 0
    while not (found := await engine.journal.questions(run)):
        assert await engine.journal.grown(run, seq, 60)
        seq += 1
    return found[0].id


@pytest.fixture
def logged(tmp_path):
    """All that the process logs, written to a file as an application would."""
    handler = logging.FileHandler(tmp_path / "all.log")
    handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)
    handler.close()


@pytest.mark.parametrize("name", CANARIES)
async def test_s6_a_secret_is_in_no_file_and_no_log(tmp_path, logged, name):
    given = f"${{secrets.{name}}}"
    steps = [{"id": "output", "tool": "leak.output", "with": {"given": given}}]
    steps += [{"id": "progress", "tool": "leak.progress", "with": {"given": f"and {given} inside"}}]
    steps += [{"id": "log", "tool": "leak.log", "with": {"given": given}}]
    for n, form in enumerate([*forms(TOKEN), "cut"]):
        for kind in ("failure", "exception"):
            if (kind, form) != ("failure", "cut"):
                step = {"id": f"{kind}{n}", "tool": f"leak.{kind}", "with": {"given": given, "form": form}}
                steps.append({**step, "on": {"failure": "next"}, "retry": {"attempts": 1}})
    steps.append({"id": "ask", "ask": "Was it ${steps.output.output.forms.raw}, ${steps.failure0.failure.message}?"})
    async with Engine.open(tmp_path / "runs.db", tools=TOOLS, secrets=CANARIES) as engine:
        handle = await engine.start(a_plan(*steps))
        question = await asked(engine, handle.id)
        files = b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())  # with the log of SQLite
        await engine.answer(handle.id, question, True)
        result = await handle.result()
    files += b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    assert len(files) > 20_000
    assert hits(files, CANARIES[name]) == []
    assert hits(str(result.steps).encode() + str(result.output).encode(), CANARIES[name]) == []
    assert f"«secret {name}»".encode() in files
    log_text = (tmp_path / "all.log").read_text(encoding="utf-8")
    assert log_text.count(f"«secret {name}»") >= 2 * len(forms(TOKEN))
    assert "ValueError: invalid literal for int() with base 10: '«secret" in log_text


async def test_a_secret_that_an_earlier_process_gave_out_is_known(tmp_path):
    """It may lie in a file by now; the step that reads it names no secret."""
    plan = a_plan({"id": "read", "tool": "flow.echo", "with": {"value": TOKEN}})
    async with Engine.open(secrets=CANARIES) as engine:
        result = await (await engine.start(plan)).result()
    assert result.steps["read"].output == "«secret TOKEN»"


async def test_what_another_performer_says_is_looked_at_too():
    class Agent:
        async def perform(self, attempt):
            attempt.report(0.5, attempt.call.arguments["with"]["key"])
            if attempt.step == "raise":
                raise RuntimeError(attempt.call.arguments["with"]["key"])
            return Outcome({"key": attempt.call.arguments["with"]["key"]}, exit=attempt.call.arguments["with"]["key"])

    steps = [
        {"id": each, "agent": "x", "with": {"key": "${secrets.TOKEN}"}, "on": {"failure": "next"}}
        for each in ("raise", "exit")
    ]
    async with Engine.open(performer=Agent(), secrets=CANARIES) as engine:
        handle = await engine.start(a_plan(*steps))
        await handle.result()
        facts = b"".join(each.body for each in await engine.journal.read(handle.id))
    assert hits(facts, TOKEN) == []
    assert "RuntimeError: «secret TOKEN»" in facts.decode()
    assert "'«secret TOKEN»' was not declared" in facts.decode()


@pytest.mark.parametrize("status", ["200 OK", "403 No"])
async def test_a_server_that_tells_what_it_was_told_gives_nothing_away(status):
    """Headers, the URL, the body; and a failure whose excerpt is cut in the middle of a secret."""

    def echo(wire, head, body):
        told = head.encode() + body
        saying(told, status, content_type="text/plain", x_echo=json.dumps(TOKEN), x_path=head.split(" ")[1])(
            wire, head, body
        )

    server = Server(echo)
    host = f"127.0.0.1:{server.port}"
    given = {
        "method": "POST",
        "url": f"http://{host}/{TOKEN}",
        "headers": {"Authorization": f"Basic {forms(TOKEN)['base64']}"},
    }
    discreet = Discreet(ToolPerformer(HTTP), Secrets(CANARIES))
    for before in range(600, 619, 3):
        given |= {"body": "z" * before + TOKEN * 20, "query": {"token": ODD}}
        outcome = await discreet.perform(attempt_of("http.request", given, allowing(host)))
        assert (outcome.failure is None) is (status == "200 OK")
        assert hits(str(outcome).encode(), TOKEN) + hits(str(outcome).encode(), ODD) == []
        assert not outcome.failure or outcome.failure.detail["excerpt"][-6:] not in TOKEN
    server.close()
    assert len(server.asked) == 7


def test_questions_and_judgements_are_looked_at():
    redactor = Redactor(CANARIES)
    judged = (
        Judgement(Deed("connect", f"{TOKEN}.example:443"), "deny", "user", f"not {TOKEN}"),
        Judgement(Deed("use", "a")),
    )
    outcome = redacted(redactor, Outcome(exit="failure", approval=Approval("d", f"send {ODD}?"), judged=judged))
    assert hits(str(outcome).encode(), TOKEN) + hits(str(outcome).encode(), ODD) == []
    assert outcome.judged[0].verdict == "deny"
    assert outcome.judged[1] == judged[1]
    assert outcome.approval.digest == "d"


async def test_without_secrets_nothing_stands_between():
    factory = logging.getLogRecordFactory()
    async with Engine.open() as engine:
        assert type(engine.host.performer).__name__ == "Everyone"
        assert logging.getLogRecordFactory() is factory


async def test_records_are_made_as_before_when_no_engine_has_secrets_any_more():
    factory = logging.getLogRecordFactory()
    async with contextlib.AsyncExitStack() as engines:
        for _ in range(2):
            await engines.enter_async_context(Engine.open(secrets=CANARIES))
        assert logging.getLogRecordFactory() is not factory
    assert logging.getLogRecordFactory() is factory


async def test_a_secret_that_is_too_short_is_not_given_out():
    plan = a_plan({"id": "a", "tool": "flow.echo", "with": {"value": "${secrets.PIN}"}})
    async with Engine.open(secrets={"PIN": "471"}) as engine:
        result = await (await engine.start(plan)).result()
    assert result.failure.kind == "invalid"
    assert "the secret PIN has fewer than 4 letters" in result.failure.message
    with pytest.raises(TooShort):
        Secrets({"PIN": "  x "})["PIN"]


async def test_secrets_are_asked_for_one_by_one_and_at_the_last_moment():
    class Vault(dict):
        def __iter__(self):
            return iter(())  # it lists nothing

        def __len__(self):
            return 0

        def __getitem__(self, name):
            asked.append(name)
            return f"value-of-{name}"

    asked = []
    plan = a_plan(
        {"id": "a", "tool": "flow.echo", "with": {"value": "${secrets.ONE}"}},
        {"id": "b", "tool": "flow.echo", "with": {"value": "value-of-ONE"}},
    )
    async with Engine.open(secrets=Vault()) as engine:
        handle = await engine.start(plan)
        result = await handle.result()
    assert asked == ["ONE"]
    assert [result.steps[each].output for each in "ab"] == ["«secret ONE»"] * 2


# ------------------------------------------------------------------------------- taking back


async def test_an_undo_gets_its_secrets_when_it_begins(tmp_path):
    """And data that looks like a secret's name stays data: what a step gave is never looked at again."""
    seen = []

    @tool(name="shop.order", repeat="safe")
    async def order(key: str) -> dict:
        return {"id": "${secrets.ODD}", "price": "5$", "note": "$${secrets.ODD} ${", "list": ["${secrets.ODD}"]}

    @tool(name="shop.undo", repeat="safe")
    async def undo(given: dict) -> None:
        seen.append(given)

    undoing = {
        "key": "${secrets.TOKEN}", "header": "Bearer ${secrets.TOKEN}!", "id_": "${output.id}", "all_": "${output}",
        "mixed": "$${x} ${output.price}${secrets.TOKEN}${output.id}", "plain": "no $${secrets.TOKEN}",
    }  # fmt: skip
    plan = a_plan(
        {"id": "mark", "checkpoint": True},
        {
            "id": "buy",
            "tool": "shop.order",
            "with": {"key": "${secrets.TOKEN}"},
            "undo": {"tool": "shop.undo", "with": {"given": undoing}},
        },
        {"id": "back", "rollback": "mark"},
    )
    async with Engine.open(tmp_path / "runs.db", tools=[order, undo], secrets=CANARIES) as engine:
        await (await engine.start(plan)).result()
    given = {"id": "${secrets.ODD}", "price": "5$", "note": "$${secrets.ODD} ${", "list": ["${secrets.ODD}"]}
    mixed = f"${{x}} 5${TOKEN}${{secrets.ODD}}"
    wanted = {"key": TOKEN, "header": f"Bearer {TOKEN}!", "id_": "${secrets.ODD}", "all_": given, "mixed": mixed}
    assert seen == [{**wanted, "plain": "no ${secrets.TOKEN}"}]
    files = b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    assert hits(files, TOKEN) + hits(files, ODD) == []


async def test_an_undo_that_is_begun_by_another_process_gets_its_secrets(tmp_path):
    """What was written down is enough: the values come from whoever takes the effect back."""
    seen = []

    @tool(name="shop.undo", repeat="safe")
    async def undo(key: str) -> None:
        seen.append(key)

    plan = a_plan(
        {"id": "mark", "checkpoint": True},
        {
            "id": "buy",
            "tool": "flow.echo",
            "with": {"value": 1},
            "undo": {"tool": "shop.undo", "with": {"key": "${secrets.TOKEN}"}},
        },
        {"id": "ok", "ask": "Take it back?"},
        {"id": "back", "rollback": "mark"},
    )
    async with Engine.open(tmp_path / "runs.db", tools=[undo], secrets={"TOKEN": "an older value"}) as engine:
        run = (await engine.start(plan)).id
        question = await asked(engine, run)
    async with Engine.open(tmp_path / "runs.db", tools=[undo], secrets=CANARIES, resume=True) as engine:
        await engine.answer(run, question, True)
        await engine.run(run).result()
    assert seen == [TOKEN]
