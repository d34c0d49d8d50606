"""A8 E10: an agent of pydantic-ai works in its own way, and each of its questions and calls is a step."""

import asyncio
import gc
import json
from dataclasses import dataclass

import pytest
from fake_provider import called, playing, said
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, ToolReturn
from pydantic_ai.capabilities import ProcessEventStream
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset

from perdure import Engine, Plan, ToolFailure, tool
from perdure.agents import Agent as PerdureAgent
from perdure.agents import BadAgent
from perdure.agents.adapted import Changed, NotAdapted, adapted, context, keeping
from perdure.agents.adapted.held import HeldLoop
from perdure.core.growth import Finish, Move
from perdure.models import Models
from perdure.models.places import Place, Places
from perdure.plan.problems import PlanError
from perdure.ports import Answer, ModelFailed
from perdure.testing.models import ScriptedModel, calls

GO = {"id": "go", "agent": "guest", "task": "Where is it?", "recovery": {"stalled": ["fail"], "unknown": ["fail"]}}


class City(BaseModel):
    city: str


class Script:
    """A model that says one thing after another, and remembers what it was asked."""

    def __init__(self, *answers):
        self._answers = answers
        self.asked = []

    def __call__(self, messages, info):
        self.asked.append(messages)
        turn = sum(isinstance(each, ModelResponse) for each in messages)
        answer = self._answers[turn]
        return ModelResponse(parts=[TextPart(answer)] if isinstance(answer, str) else list(answer))


def model(script):
    return FunctionModel(script, model_name="scripted")


async def carried_out(agent, step=None, path=":memory:", settings=None, **plan):
    async with Engine.open(path, agents=[agent], **(settings or {})) as engine:
        document = {"steps": [{**GO, **(step or {})}], "output": "${steps.go.output}", **plan}
        run = await engine.start(Plan.model_validate(document))
        return await asyncio.wait_for(run.result(), 20)


def worked(agent, step=None, settings=None, **plan):
    return asyncio.run(carried_out(agent, step, settings=settings, **plan))


def kinds(result):
    """What the grown steps were: a stretch, a question or a call."""
    found = {}
    for key, each in result.steps.items():
        if "/" in key:
            output = each.output if isinstance(each.output, dict) else {}
            found[int(key.rpartition(".")[2])] = (
                "stretch" if {"wants", "answer"} & set(output) else "question" if "parts" in output else "call"
            )
    return [found[each] for each in sorted(found)]


# ------------------------------------------------------------------------------- its own way


def test_a8_each_question_and_each_call_is_a_step():
    script = Script(
        [ToolCallPart("look", {"at": "map"}), ToolCallPart("look", {"at": "sky"})],
        [ToolCallPart("final_result", {"town": "Paris"})],
        [ToolCallPart("final_result", {"city": "Paris"})],
    )
    agent = Agent(model(script), name="guest", output_type=City)

    @agent.tool_plain
    async def look(at: str) -> str:
        """Look at something."""
        if at == "sky":
            raise ModelRetry("there is nothing to be seen")
        return f"the {at} is large"

    result = worked(adapted(agent, declared={"look": {"repeat": "safe"}}))
    assert result.output == {"city": "Paris"}
    assert kinds(result) == ["stretch", "question", "stretch", "call", "call", *("stretch", "question") * 2, "stretch"]
    told = [each.content for each in script.asked[1][-1].parts if isinstance(each, ToolReturnPart)]
    assert told[0] == "the map is large"
    assert "nothing to be seen" in told[1]


def test_a8_what_it_would_do_alone_it_does_as_a_step():
    """The same agent outside of Perdure has the same conversation."""

    def made(script):
        agent = Agent(model(script), name="guest", output_type=City, instructions="Be brief.", retries=3)
        agent.tool_plain(lambda at: ToolReturn(f"saw {at}", content="look closer"), name="look")
        return agent

    answers = (
        [ToolCallPart("look", {"at": "a"}, "c1"), ToolCallPart("nothing", {}, "c2")],
        "I know it.",
        [ToolCallPart("final_result", {"city": "Rome"}, "c3")],
    )
    alone, here = Script(*answers), Script(*answers)
    asyncio.run(made(alone).run("Where is it?"))
    assert worked(adapted(made(here), declared={"look": {"repeat": "safe"}})).output == {"city": "Rome"}
    assert [lasting(each) for each in here.asked] == [lasting(each) for each in alone.asked]


def lasting(messages):
    fleeting = {"timestamp", "run_id", "conversation_id", "usage", "model_id", "metadata"}
    found = [[(type(part).__name__, part.__dict__) for part in each.parts] for each in messages]
    return [
        [(n, {k: v for k, v in part.items() if k not in fleeting and v is not None}) for n, part in each]
        for each in found
    ]


def test_a8_calls_that_are_asked_for_together_are_made_together():
    at_work, most = 0, 0
    script = Script([ToolCallPart("look", {"at": str(n)}) for n in range(3)], "seen")
    agent = Agent(model(script), name="guest")

    @agent.tool_plain
    async def look(at: str) -> str:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.05)
        at_work -= 1
        return at

    assert worked(adapted(agent, declared={"look": {"repeat": "safe"}})).output == "seen"
    assert most == 3


def test_a8_it_depends_on_what_its_step_gives():
    @dataclass
    class Shelf:
        books: list

    script = Script([ToolCallPart("count", {})], "two")
    agent = Agent(model(script), name="guest", deps_type=Shelf)

    @agent.tool
    def count(ctx: RunContext[Shelf]) -> int:
        return len(ctx.deps.books)

    guest = adapted(agent, deps=lambda facts: Shelf(facts["books"]), declared={"count": {"repeat": "safe"}})
    result = worked(guest, {"with": {"books": ["a", "b"]}})
    assert result.steps["go/1.4"].output == 2
    assert script.asked[0][0].parts[0].content == "Where is it?"


def test_a8_without_dependencies_it_is_told_what_it_is_given():
    script = Script("there")
    assert worked(adapted(Agent(model(script), name="guest")), {"with": {"hint": {"street": "Elm"}}}).output == "there"
    assert script.asked[0][0].parts[0].content == 'Where is it?\n\nWhat you are given:\nhint: {"street": "Elm"}'


def test_a8_what_models_and_tools_say_stays_data():
    script = Script([ToolCallPart("look", {"at": "${inputs.task}"}, "${steps.s1}")], "seen")
    agent = Agent(model(script), name="guest")
    agent.tool_plain(lambda at: {"saw": f"{at} ${{secrets.KEY}}"}, name="look")
    result = worked(adapted(agent, declared={"look": {"repeat": "safe"}}))
    assert (result.output, result.steps["go/1.4"].output) == ("seen", {"saw": "${inputs.task} ${secrets.KEY}"})
    assert script.asked[1][-1].parts[0].content == {"saw": "${inputs.task} ${secrets.KEY}"}


def test_a8_a_step_may_want_a_form_of_its_own_and_a_verdict():
    form = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    script = Script([ToolCallPart("final_result", {"verdict": "needs_work", "answer": {"n": 3}})])
    guest = adapted(Agent(model(script), name="guest"))
    step = {"verdicts": ["needs_work"], "returns": form, "on": {"needs_work": "next"}}
    result = worked(guest, step)
    assert (result.steps["go"].exit, result.output) == ("needs_work", {"n": 3})


def test_a8_streams_and_test_models_work_too():
    heard = []

    async def listen(_, events):
        heard.extend([each async for each in events])

    watching = [ProcessEventStream(listen)]
    agent = Agent(TestModel(custom_output_text="so be it"), name="guest", capabilities=watching)
    assert worked(adapted(agent)).output == "so be it"
    assert heard


# ------------------------------------------------------------------------------- what holds at every step


@tool(name="shop.buy", repeat="safe", effects=["costs"])
def buy(what: str) -> str:
    """Buy something."""
    return f"bought {what}"


def test_a8_tools_of_perdure_are_called_by_their_own_steps():
    script = Script([ToolCallPart("shop__buy", {"what": "bread"})], "done")
    guest = adapted(Agent(model(script), name="guest"), tools=("shop.*",))
    result = worked(guest, settings={"tools": [buy]})
    assert result.steps["go/1.4"].output == "bought bread"
    assert script.asked[1][-1].parts[0].content == "bought bread"


def test_e7_what_a_policy_forbids_is_told_to_the_model():
    script = Script([ToolCallPart("shop__buy", {"what": "bread"})], "then not")
    guest = adapted(Agent(model(script), name="guest"), tools=("shop.*",))
    result = worked(guest, settings={"tools": [buy]}, policy={"deny": ["costs"]})
    assert result.output == "then not"
    assert result.steps["go/1.4"].failure.kind == "denied"
    assert "may not be done" in str(script.asked[1][-1].parts[0].content)


@pytest.mark.parametrize(("limit", "asked"), [({"calls": 2}, 2), ({"steps": 3}, 1), ({"tokens": 60}, 0)])
def test_e17_a_budget_ends_it_in_the_middle(limit, asked):
    script = Script(*([ToolCallPart("look", {"at": "map"})] for _ in range(9)))
    agent = Agent(model(script), name="guest")
    agent.tool_plain(lambda at: at, name="look")
    result = worked(adapted(agent, declared={"look": {"repeat": "safe"}}), budget={**limit, "then": "fail"})
    assert (result.status, result.failure.kind) == ("failed", "budget")
    assert len(script.asked) == asked


def test_e17_what_it_takes_is_settled():
    script = Script("It is there.")
    result = worked(adapted(Agent(model(script), name="guest")), budget={"tokens": 100_000, "calls": 5})
    account = result.usage.budgets[""]
    assert account["calls"].spent == 1
    assert 0 < account["tokens"].spent < 1_000
    assert account["tokens"].reserved == 0


def test_e17_a_price_that_is_known_is_reserved_before():
    """What it may cost is more than there is, so nobody is asked."""
    script = Script("never")
    costly = FunctionModel(script, model_name="gpt-4o")
    costly._system = "openai"
    result = worked(adapted(Agent(costly, name="guest")), budget={"usd": 0.000_1, "then": "fail"})
    assert (result.failure.kind, script.asked) == ("budget", [])


def test_a8_what_a_model_leaves_empty_stays_empty():
    script = Script([ToolCallPart("look", {"at": None, "n": 0})], "seen")
    agent = Agent(model(script), name="guest")
    agent.tool_plain(lambda at, n: [at, n], name="look")
    result = worked(adapted(agent, declared={"look": {"repeat": "safe"}}))
    assert result.steps["go/1.4"].output == [None, 0]


def test_e17_no_answer_is_longer_than_the_budget_leaves():
    asked = []

    def answer(_, info):
        asked.append(info.model_settings)
        return ModelResponse(parts=[TextPart("short")])

    guest = adapted(Agent(FunctionModel(answer), name="guest", model_settings={"temperature": 0.5}), tokens=700)
    worked(guest, budget={"tokens": 600})
    assert asked[0]["temperature"] == 0.5
    assert 16 <= asked[0]["max_tokens"] < 600


@tool(name="shop.judge", repeat="safe", effects=[])
def judge(output: str) -> bool:
    """Whether it is long enough."""
    return len(output) > 3


def test_a8_it_is_chosen_by_its_skills_and_its_work_is_judged_like_everybodys():
    script = Script([ToolCallPart("look", {"at": "map"})], "there")
    agent = Agent(model(script), name="guest")
    agent.tool_plain(lambda at: at, name="look")
    guest = adapted(agent, skills=("finding",), declared={"look": {"repeat": "safe"}})
    accept = [{"tool": "shop.judge", "with": {"output": "${output}"}}]
    result = worked(guest, {"agent": "any", "skills": ["finding"], "accept": accept}, {"tools": [judge]})
    assert (result.failure, result.output) == (None, "there")
    assert result.steps["go/1.2/1.4"].output == "map"


# ------------------------------------------------------------------------------- what goes wrong


def test_e14_a_tool_that_breaks_is_tried_again_by_its_step_alone():
    script, tries = Script([ToolCallPart("fetch", {})], "got it"), []
    agent = Agent(model(script), name="guest")

    @agent.tool_plain
    def fetch() -> str:
        tries.append(context().attempt)
        if len(tries) == 1:
            raise ConnectionError("not now")
        return "page"

    result = worked(adapted(agent, declared={"fetch": {"repeat": "safe"}}))
    assert (result.output, tries, len(script.asked)) == ("got it", [1, 2], 2)


def test_e14_a_model_that_is_not_there_is_asked_again_by_its_step():
    asked = []

    def answer(_, __):
        asked.append(1)
        if len(asked) == 1:
            from pydantic_ai.exceptions import ModelHTTPError

            raise ModelHTTPError(503, "m", {"error": {"message": "overloaded"}})
        return ModelResponse(parts=[TextPart("back again")])

    result = worked(adapted(Agent(FunctionModel(answer), name="guest")))
    assert (result.output, len(asked)) == ("back again", 2)
    assert result.steps["go/1.2"].attempts == 2


def test_e14_an_agent_that_gives_up_says_why():
    script = Script(*([ToolCallPart("final_result", {"town": 1})] for _ in range(5)))
    result = worked(adapted(Agent(model(script), name="guest", output_type=City, retries=1)))
    assert result.failure.kind == "logic"
    assert "gave up" in result.failure.message


def test_e10_a_tool_that_may_not_be_repeated_is_asked_about(tmp_path):
    """E10: nobody knows whether it was done, so a person is asked."""
    entered = asyncio.Event

    async def first():
        begun = entered()
        guest = adapted(_payer(begun))
        async with Engine.open(tmp_path / "runs.db", agents=[guest], patience=0) as engine:
            await engine.start(Plan.model_validate({"steps": [GO]}))
            await asyncio.wait_for(begun.wait(), 20)

    async def second():
        async with Engine.open(tmp_path / "runs.db", agents=[adapted(_payer(None))], resume=True) as engine:
            [run] = await engine.journal.runs()
            for _ in range(200):
                if (await engine.result(run.id)).status == "waiting":
                    break
                await asyncio.sleep(0.02)
            [question] = (await engine.result(run.id)).questions.values()
            return question

    asyncio.run(first())
    assert "guest.pay" in asyncio.run(second())


def _payer(begun):
    agent = Agent(model(Script([ToolCallPart("pay", {"usd": 5})], "paid")), name="guest")

    @agent.tool_plain
    async def pay(usd: int) -> str:
        """Pay."""
        begun.set()
        await asyncio.sleep(60)
        return "paid"

    return agent


# ------------------------------------------------------------------------------- more loops than are kept


@pytest.fixture
def few(monkeypatch):
    """No more than two loops are kept, but for those in use."""
    monkeypatch.setattr(keeping, "MOST", 2)


class Meeting:
    """A place where everybody waits until all are there."""

    def __init__(self, size):
        self._missing, self._full = size, asyncio.Event()

    async def come(self):
        self._missing -= 1
        if self._missing <= 0:
            self._full.set()
        await asyncio.wait_for(self._full.wait(), 20)


class Shop(FunctionToolset):
    """Tools that are there for as long as an agent works."""

    visitors = 0
    seconds = 0
    """How long it takes to leave."""

    async def __aenter__(self):
        self.visitors += 1
        return self

    async def __aexit__(self, *_):
        await asyncio.sleep(self.seconds)
        self.visitors -= 1


async def all_at_once(guest, size):
    steps = [{**GO, "id": f"go{each}"} for each in range(size)]
    async with Engine.open(agents=[guest]) as engine:
        run = await engine.start(Plan.model_validate({"steps": [{"id": "all", "parallel": steps}]}))
        return await asyncio.wait_for(run.result(), 30)


@pytest.mark.filterwarnings("error")
def test_a8_many_that_think_do_not_disturb_each_other(few):
    """Those that are at work stay so, however many there are."""

    async def go():
        meeting = Meeting(6)

        async def instructions():
            await meeting.come()
            return "Be brief."

        agent = Agent(model(Script("seen")), name="guest", instructions=instructions)
        return await all_at_once(adapted(agent), 6)

    result = asyncio.run(go())
    assert result.ok, result.failure
    assert {each.attempts for each in result.steps.values() if each.attempts} == {1}


def test_a8_many_that_call_keep_what_is_open_for_them(few):
    async def go():
        meeting, shop = Meeting(6), Shop()

        @shop.tool_plain
        async def look() -> int:
            await meeting.come()
            await asyncio.sleep(0.05)
            return shop.visitors

        agent = Agent(model(Script([ToolCallPart("look", {})], "seen")), name="guest", toolsets=[shop])
        return await all_at_once(adapted(agent, declared={"look": {"repeat": "safe"}}), 6)

    result = asyncio.run(go())
    assert result.ok, result.failure
    assert max(each.output for key, each in result.steps.items() if key.endswith("/1.4")) == 6


@pytest.mark.filterwarnings("error")
def test_a8_a_loop_that_is_given_up_before_it_begins_leaves_nothing_behind():
    async def go():
        held, begun = HeldLoop(), []

        async def work():
            begun.append(1)

        held.begin(work)
        await held.gone()
        with pytest.raises(ToolFailure, match="given up"):
            await held.settled()
        return begun

    assert asyncio.run(go()) == []
    gc.collect()  # whatever was never awaited is told of here


@pytest.mark.parametrize("turn", [1, 2])
def test_e14_an_agent_that_cancels_itself_is_led_again_to_where_it_was(turn):
    """E14: the next try has a loop of its own, and asks nobody again."""
    told = []

    async def instructions():
        told.append(1)
        if len(told) == turn:
            raise asyncio.CancelledError
        return "Be brief."

    script = Script([ToolCallPart("look", {"at": "map"})], "seen")
    agent = Agent(model(script), name="guest", instructions=instructions)
    agent.tool_plain(lambda at: at, name="look")
    result = worked(adapted(agent, declared={"look": {"repeat": "safe"}}))
    assert (result.failure, result.output) == (None, "seen")
    assert (len(script.asked), sum(each.attempts == 2 for each in result.steps.values())) == (2, 1)


@pytest.mark.parametrize("end", ["cancel", "budget"])
def test_a8_a_run_that_is_over_keeps_no_loop(end):
    """E17: nobody tells an agent that there is no more budget; what it has open is closed all the same."""

    async def go():
        shop, looking = Shop(), asyncio.Event()

        @shop.tool_plain
        async def look() -> int:
            looking.set()
            await asyncio.sleep(60 if end == "cancel" else 0)
            return shop.visitors

        agent = Agent(model(Script([ToolCallPart("look", {})], "seen")), name="guest", toolsets=[shop])
        guest = adapted(agent, declared={"look": {"repeat": "safe"}})
        async with Engine.open(agents=[guest]) as engine:
            run = await engine.start(Plan.model_validate({"steps": [GO], "budget": {"calls": 1, "then": "fail"}}))
            await asyncio.wait_for(looking.wait(), 20)
            assert shop.visitors == 1
            if end == "cancel":
                await run.cancel()
            assert not (await asyncio.wait_for(run.result(), 20)).ok
            await asyncio.sleep(0.05)
            return shop.visitors

    assert asyncio.run(go()) == 0


@pytest.mark.parametrize("end", ["run", "engine"])
def test_a8_an_engine_that_is_closed_lets_its_agents_put_things_in_order(end):
    async def go():
        shop, looking = Shop(), asyncio.Event()
        shop.seconds = 0.2

        @shop.tool_plain
        async def look() -> None:
            looking.set()
            await asyncio.sleep(0 if end == "run" else 60)

        agent = Agent(model(Script([ToolCallPart("look", {})], "seen")), name="guest", toolsets=[shop])
        guest = adapted(agent, declared={"look": {"repeat": "safe"}})
        async with Engine.open(agents=[guest], patience=0) as engine:
            run = await engine.start(Plan.model_validate({"steps": [GO], "budget": {"calls": 1, "then": "fail"}}))
            await asyncio.wait_for(looking.wait(), 20)
            if end == "run":
                assert not (await asyncio.wait_for(run.result(), 20)).ok
        return shop.visitors

    assert asyncio.run(go()) == 0


# ------------------------------------------------------------------------------- changed since


def _stopped_in_its_middle(path, agent, step="go/1.5", said=None, **fields):
    """Begin a run, and end the process before its next question is answered."""

    async def go():
        async with Engine.open(path, agents=[adapted(agent, **fields)], patience=0) as engine:
            run = await engine.start(Plan.model_validate({"steps": [{**GO, **(said or {})}]}))
            for _ in range(500):
                if step in (await engine.result(run.id)).steps:
                    return
                await asyncio.sleep(0.01)

    asyncio.run(go())


def _went_on(path, agent, **fields):
    async def go():
        async with Engine.open(path, agents=[adapted(agent, **fields)], resume=True) as engine:
            [run] = await engine.journal.runs()
            return await asyncio.wait_for(engine.run(run.id).result(), 20)

    return asyncio.run(go())


def _looker(instructions="Be brief.", more=(), slow=True):
    async def answer(messages, _):
        if len(messages) > 1:
            await asyncio.sleep(60 if slow else 0)
            return ModelResponse(parts=[TextPart("seen")])
        return ModelResponse(parts=[ToolCallPart("look", {"at": "map"})])

    agent = Agent(FunctionModel(answer, model_name="scripted"), name="guest", instructions=instructions)

    @agent.tool_plain
    def look(at: str) -> str:
        return at

    for each in more:
        agent.tool_plain(each)
    return agent


def test_e10_it_goes_on_where_it_was(tmp_path):
    _stopped_in_its_middle(tmp_path / "runs.db", _looker())
    assert _went_on(tmp_path / "runs.db", _looker(slow=False)).ok


def test_e10_calls_that_a_provider_gives_the_same_name_are_told_apart(tmp_path):
    def made(*, slow):
        async def answer(messages, _):
            turn = sum(isinstance(each, ModelResponse) for each in messages)
            if turn < 2:
                return ModelResponse(parts=[ToolCallPart("look", {"at": "ab"[turn]}, "call0")])
            await asyncio.sleep(60 if slow else 0)
            told = [part.content for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
            return ModelResponse(parts=[TextPart(" and ".join(told))])

        agent = Agent(FunctionModel(answer, model_name="scripted"), name="guest")
        agent.tool_plain(lambda at: f"saw {at}", name="look")
        return agent

    _stopped_in_its_middle(tmp_path / "runs.db", made(slow=True), "go/1.10")
    result = _went_on(tmp_path / "runs.db", made(slow=False))
    assert (result.failure, result.steps["go"].output) == (None, "saw a and saw b")


@pytest.mark.parametrize("part", ["tools", "instructions"])
def test_e10_a_changed_agent_is_told_and_never_goes_on(tmp_path, part):
    _stopped_in_its_middle(tmp_path / "runs.db", _looker())

    def smell(at: str) -> str:
        return at

    changed = _looker(slow=False, **({"more": [smell]} if part == "tools" else {"instructions": "Be long."}))

    told = _left_alone(tmp_path / "runs.db", adapted(changed))
    assert Changed.code in told
    assert f"its {part}" in told
    assert _went_on(tmp_path / "runs.db", _looker(slow=False)).ok, "put back, it goes on"


def _left_alone(path, *agents):
    """Why a run is not gone on with."""

    async def go():
        async with Engine.open(path, agents=agents, resume=True) as engine:
            [run] = await engine.journal.runs()
            return str(engine.left[run.id])

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("step", "said", "fields"),
    [
        ("go/1.2/1.5", {}, {"limit": 3}),
        ("go/1.2/1.5", {}, {"fallbacks": ["guest"]}),
        ("go/1.2/1.5", {"agent": "any", "skills": ["finding"]}, {"skills": ["finding"]}),
        ("go/1.5", {"strategy": "adapted"}, {}),
    ],
)
def test_e10_a_changed_agent_is_told_however_it_came_to_its_work(tmp_path, step, said, fields):
    path = tmp_path / "runs.db"
    _stopped_in_its_middle(path, _looker(), step, said, **fields)
    told = _left_alone(path, adapted(_looker(slow=False, instructions="Be long."), **fields))
    assert Changed.code in told
    assert "its instructions" in told
    assert _went_on(path, _looker(slow=False), **fields).ok, "put back, it goes on"


def test_e10_one_who_was_chosen_and_is_gone_is_told(tmp_path):
    _stopped_in_its_middle(tmp_path / "runs.db", _looker(), "go/1.2/1.5", limit=3)
    told = _left_alone(tmp_path / "runs.db", PerdureAgent(name="guest"))
    assert 'no agent "guest" of another framework' in told


def test_e10_what_an_agent_says_otherwise_at_run_time_is_told(tmp_path):
    """Nobody can see from outside that it has changed: it is found when it is led to where it was."""
    day = ["Monday"]
    _stopped_in_its_middle(tmp_path / "runs.db", _looker(instructions=lambda: f"It is {day[0]}."))
    day[0] = "Tuesday"
    result = _went_on(tmp_path / "runs.db", _looker(slow=False, instructions=lambda: f"It is {day[0]}."))
    assert result.failure.kind == "invalid"
    assert "PRD4121: the agent wants something else than before, in question 1 to its model" in result.failure.message
    assert "its instructions are others" in result.failure.message


def test_e9_a_run_is_replayed_without_the_agents_code(tmp_path):
    script = Script([ToolCallPart("look", {"at": "map"})], "seen")

    def made(instructions=""):
        agent = Agent(model(script), name="guest", instructions=instructions)
        agent.tool_plain(lambda at: at, name="look")
        return adapted(agent, declared={"look": {"repeat": "safe"}})

    assert asyncio.run(carried_out(made(), path=tmp_path / "runs.db")).output == "seen"

    async def stubbed(agent):
        async with Engine.open(tmp_path / "runs.db", agents=[agent], idle=True) as engine:
            [run] = await engine.journal.runs()
            return await engine.stub(run.id)

    asked = len(script.asked)
    same = asyncio.run(stubbed(made()))
    assert (same.is_same, same.output) == (True, "seen")
    other = asyncio.run(stubbed(made("Think twice.")))
    assert other.missing.step == "go/1.1"
    assert other.missing.nearest.arguments["who"] != other.missing.call.arguments["who"]
    assert len(script.asked) == asked


# ------------------------------------------------------------------------------- tiers


def test_a8_an_agent_without_a_model_asks_a_tier():
    scripted = ScriptedModel([calls("look", at="map"), "It is here."])
    agent = Agent(name="guest", instructions="Be brief.", system_prompt="You find things.")
    agent.tool_plain(lambda at: f"the {at}", name="look")
    guest = adapted(agent, declared={"look": {"repeat": "safe"}})
    assert worked(guest, settings={"models": {"default": scripted}}).output == "It is here."
    first, second = scripted.asked
    assert first.instructions == "You find things.\n\nBe brief."
    assert [each.name for each in first.offers] == ["look"]
    assert second.remarks[-1].text == "the map"


def test_a8_an_answer_of_a_tier_that_is_of_no_use_is_paid():
    def broken(_):
        raise ModelFailed("denied", "no more", answer=Answer(tokens_in=3, tokens_out=5, usd=0.25))

    guest = adapted(Agent(name="guest"))
    result = worked(guest, settings={"models": {"default": ScriptedModel(broken)}}, budget={"usd": 1, "tokens": 9_000})
    assert (result.status, result.failure.message) == ("failed", "no more")
    assert result.usage.budgets[""]["tokens"].spent == 8
    assert result.usage.budgets[""]["usd"].spent == 0.25


def test_a8_through_a_provider_it_is_asked_once_for_each_question(monkeypatch):
    async def go():
        async with playing(called(("look", '{"at": "map"}')), called(("final_result", '{"city": "Rome"}'))) as fake:
            models = Models({"default": "box:m"}, Places([Place("box", fake.url)]))
            agent = Agent(name="guest", output_type=City)
            agent.tool_plain(lambda at: f"the {at}", name="look")
            guest = adapted(agent, declared={"look": {"repeat": "safe"}}, model="weak")
            result = await carried_out(guest, settings={"models": models}, budget={"usd": 1, "tokens": 9_000})
            return result, fake.asked

    result, asked = asyncio.run(go())
    assert result.output == {"city": "Rome"}
    assert len(asked) == 2
    assert {each["function"]["name"] for each in asked[0]["tools"]} == {"look", "final_result"}
    assert [each["role"] for each in asked[1]["messages"]] == ["user", "assistant", "tool"]
    assert json.loads(asked[1]["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {"at": "map"}
    assert result.usage.budgets[""]["tokens"].spent == 16
    assert result.usage.budgets[""]["usd"].spent == 0


def test_a8_a_provider_that_fails_is_asked_again_by_the_step():
    async def go():
        from fake_provider import refused

        async with playing(refused(503, "busy"), said("at last")) as fake:
            models = Models({"default": "box:m"}, Places([Place("box", fake.url)]))
            result = await carried_out(adapted(Agent(name="guest")), settings={"models": models})
            return result, len(fake.asked)

    result, asked = asyncio.run(go())
    assert (result.output, asked) == ("at last", 2)


# ------------------------------------------------------------------------------- what cannot be


def test_a8_what_cannot_be_adapted_is_refused_with_what_to_do():
    with pytest.raises(NotAdapted, match="ExternalToolset") as refused:
        adapted(Agent(TestModel(), name="guest", toolsets=[ExternalToolset([])]))
    assert "tools=" in refused.value.help
    asking = Agent(TestModel(), name="guest")
    asking.tool_plain(lambda: 1, name="pay", requires_approval=True)
    with pytest.raises(NotAdapted, match="waits for an approval"):
        adapted(asking)
    with pytest.raises(NotAdapted, match='about "serch"') as refused:
        adapted(_looker(), declared={"serch": {"repeat": "safe"}})
    with pytest.raises(NotAdapted, match="name"):
        adapted(Agent(TestModel()))
    with pytest.raises(NotAdapted, match="repeats"):
        adapted(_looker(), declared={"look": {"repeats": "safe"}})


def test_a8_its_tools_are_its_own():
    async def go():
        async with Engine.open(agents=[adapted(_looker(), declared={"look": {"repeat": "safe"}})]) as engine:
            step = {"id": "look", "tool": "guest.look", "with": {"at": "map"}, "recovery": {"invalid": ["fail"]}}
            return await (await engine.start(Plan.model_validate({"steps": [step]}))).result()

    failure = asyncio.run(go()).failure
    assert "only the agent guest can call its own tools" in failure.message


def test_a8_context_is_for_calls():
    with pytest.raises(NotAdapted, match="outside of a call"):
        context()


def test_a8_it_works_in_its_own_way_and_in_no_other():
    guest = adapted(Agent(model(Script("there")), name="guest"))
    otherwise = {"agent": "guest", "strategy": "react", "task": "x", "recovery": {"invalid": ["fail"]}}
    with pytest.raises(PlanError, match="leave `strategy` out"):
        worked(guest, otherwise)

    def boss(view):
        return Move(add=[otherwise]) if view.first else Finish("failure", failure=view.fresh[-1].failure)

    step = {"strategy": "boss", "recovery": {"invalid": ["fail"]}}
    assert "leave `strategy` out" in worked(guest, step, {"strategies": {"boss": boss}}).failure.message
    with pytest.raises(BadAgent, match='cannot work by "adapted"'):
        worked(PerdureAgent(name="guest", strategy="adapted"))


def test_a8_it_is_no_judge():
    guest = adapted(Agent(model(Script("there")), name="guest"))
    step = {"id": "one", "tool": "shop.buy", "with": {"what": "x"}, "accept": [{"agent": "guest"}]}
    step["recovery"] = {"invalid": ["fail"], "unmet": ["fail"]}
    result = worked(guest, settings={"tools": [buy]}, steps=[step], output="${steps.one.output}")
    assert "agent of another framework" in result.failure.message
