"""E7: what tools say they took, in the budgets of real runs: settled however an attempt ends. R10."""

import asyncio
import contextlib
from contextlib import asynccontextmanager

import pytest

from perdure import Context, Deed, Engine, Limits, Plan, ToolFailure, tool
from perdure.core import events as e
from perdure.core.calls import Usage
from perdure.plan.model.parts import Policy

pytestmark = pytest.mark.anyio
EACH = {"usd": 2.0, "tokens": 10, "calls": 1}
TOOK = Usage(tokens=10, usd=2.0, calls=1)
DEAF = asyncio.Event()
BUDGET = {"usd": 10, "tokens": 1_000, "calls": 100}


@tool(name="shop.buy", effects=["costs"], repeat="safe", estimate={"usd": 1})
async def buy(how: str, context: Context) -> str:
    context.spend(**EACH)
    if how == "fails":
        raise ToolFailure("transient", "sold out")
    if how == "hangs":
        await asyncio.sleep(600)
    if how == "is deaf":
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
        await DEAF.wait()
    return how


@tool(name="shop.block", repeat="safe")
def block(context: Context) -> None:
    context.spend(**EACH)
    while not context.cancelled:
        pass


@tool(name="shop.look", effects=["network"], judges=True, repeat="safe")
def look(context: Context) -> str:
    context.spend(**EACH)
    context.guard.check([Deed("connect", "shop.example:443")])
    return "seen"


def send_back(context: Context) -> None:
    context.spend(usd=0.5)


@tool(name="shop.order", effects=["irreversible"], undo=send_back, estimate={"usd": 3})
def order(context: Context) -> str:
    return "ordered"


TOOLS = (buy, block, look, order)


@asynccontextmanager
async def started(*steps, policy=None, **more):
    """A run, and how to read the ends of its attempts."""
    plan = Plan.model_validate({"steps": list(steps), "budget": {**BUDGET, **more}})
    async with Engine.open(tools=TOOLS, policy=policy, limits=Limits(grace=0.2)) as engine, asyncio.timeout(60):
        run = await engine.start(plan)

        async def ends():
            found = [e.decode(each.type, each.body) for each in await engine.journal.read(run.id)]
            return [each for each in found if isinstance(each, e.AttemptEnded)]

        yield run, ends


def spent(result, word="usd"):
    return result.usage.budgets[""][word].spent


async def test_a_success_pays_what_it_says_and_not_what_was_expected():
    async with started({"id": "a", "tool": "shop.buy", "with": {"how": "works"}}) as (run, ends):
        result, [ended] = await run.result(), await ends()
    assert ended.usage == TOOK
    assert (spent(result), spent(result, "tokens"), spent(result, "calls")) == (2.0, 10, 1)
    assert (result.usage.usd, result.usage.tokens, result.usage.calls) == (2.0, 10, 1)


async def test_who_says_nothing_pays_what_was_expected():
    async with started({"id": "a", "tool": "shop.order"}) as (run, ends):
        assert spent(await run.result()) == 3
        assert [each.usage for each in await ends()] == [None]


async def test_each_try_that_fails_pays_too():
    retry = {"attempts": 3, "wait": 0}
    async with started({"id": "a", "tool": "shop.buy", "with": {"how": "fails"}, "retry": retry}) as (run, ends):
        result = await run.result()
        assert [each.usage for each in await ends()] == [TOOK] * 3
    assert (result.status, spent(result)) == ("failed", 6.0)


@pytest.mark.parametrize(
    "step",
    [{"tool": "shop.buy", "with": {"how": "hangs"}}, {"tool": "shop.buy", "with": {"how": "is deaf"}}, {"tool": "shop.block"}],
    ids=["cancelled", "given up", "in a thread"],
)  # fmt: skip
async def test_one_that_is_cut_off_has_spent_what_it_said(step):
    DEAF.clear()
    async with started({"id": "a", "timeout": 0.3, **step}) as (run, ends):
        result, [ended] = await run.result(), await ends()
        DEAF.set()
    assert (ended.failure.kind, ended.usage) == ("timeout", TOOK)
    assert spent(result) == 2.0


async def test_one_that_stops_to_ask_a_person_has_spent_it():
    asking = Policy.model_validate({"network": {"allow": ["shop.example"], "ask": ["shop.example"]}})
    async with started({"id": "a", "tool": "shop.look"}, policy=asking) as (run, ends):
        waiting = await run.rested()
        assert spent(waiting) == 2.0
        [question] = waiting.questions
        await run.answer(question, value=True)
        result = await run.result()
        assert [each.usage for each in await ends()] == [TOOK, TOOK]
    assert (result.output, spent(result)) == ("seen", 4.0)


async def test_taking_back_pays_too():
    async with started({"id": "a", "tool": "shop.order"}, {"id": "b", "ask": "Go on?"}) as (run, ends):
        await run.rested()
        await run.rollback()
        result = await run.result()
        assert [(each.deed, each.usage) for each in await ends()] == [("do", None), ("undo", Usage(usd=0.5))]
    assert (result.status, spent(result)) == ("rolled_back", 3.5)


async def test_what_was_taken_beyond_a_budget_is_an_overrun_and_nothing_more_begins():
    steps = [{"id": name, "tool": "shop.buy", "with": {"how": "works"}} for name in "abc"]
    async with started(*steps, usd=3) as (run, ends):
        result = await run.result()
        assert len(await ends()) == 2
    assert (result.status, result.failure.kind) == ("failed", "budget")
    assert (spent(result), result.usage.budgets[""]["usd"].overrun) == (4.0, 1.0)
