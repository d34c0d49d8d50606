"""E7: what a tool says it took: it adds up, from any thread, and what is no amount is refused and not counted."""

import asyncio
import sys
import threading
from decimal import Decimal

import pytest

from perdure import Context, Deed, ToolFailure, tool
from perdure.core.calls import Usage
from perdure.core.policy import Layer, Terms
from perdure.tools import ToolPerformer
from perdure.tools.box import load_tools

pytestmark = pytest.mark.anyio
SOME = Usage(tokens=3, usd=0.5, calls=1)
NO_AMOUNTS = [
    *({word: value} for word in ("usd", "tokens", "calls") for value in (-1, True, "3", float("nan"), float("inf"), [1], 2**53)),
    {"usd": Decimal(1)}, {"tokens": 1.5}, {"calls": 2.0}, {"tokens": None}, {"usd": 0.5, "tokens": -1},
]  # fmt: skip


def test_what_is_spent_adds_up(an_attempt):
    context = Context(an_attempt("a.b"))
    for _ in range(10):
        context.spend(usd=0.1)
    context.spend(tokens=3)
    context.spend(tokens=4, calls=1)
    assert context.known == {"usage": Usage(tokens=7, usd=1.0, calls=1)}


def test_a_price_that_nobody_named_is_not_zero(an_attempt):
    context = Context(an_attempt("a.b"))
    context.spend(tokens=3)
    assert context.known["usage"].usd is None
    context.spend(usd=0)
    assert context.known["usage"].usd == 0


@pytest.mark.parametrize("given", NO_AMOUNTS, ids=str)
def test_what_is_no_amount_is_refused_and_nothing_is_counted(given, an_attempt):
    context = Context(an_attempt("a.b"))
    context.spend(usd=0.5, tokens=3, calls=1)
    with pytest.raises(ToolFailure, match=r"spend: (usd|tokens|calls)=.* is no amount; write a (whole )?number"):
        context.spend(**given)
    assert context.known["usage"] == SOME


@pytest.mark.parametrize("word", ["usd", "tokens", "calls"])
def test_nothing_adds_up_to_what_could_not_be_counted(word, an_attempt):
    context = Context(an_attempt("a.b"))
    context.spend(**{word: 2**53 - 1})
    with pytest.raises(ToolFailure, match="adds up"):
        context.spend(**{word: 2**52})
    assert getattr(context.known["usage"], word) == 2**53 - 1


@pytest.fixture
def in_turns():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("in_turns")
def test_many_threads_lose_nothing(an_attempt):
    context = Context(an_attempt("a.b"))
    threads = [
        threading.Thread(target=lambda: [context.spend(tokens=1, usd=0.001) for _ in range(500)]) for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert context.known["usage"] == Usage(tokens=4_000, usd=4.0)


# ------------------------------------------------------------------------------- in its outcome


@tool(name="model.ask", effects=["network", "costs"], judges=True)
def ask(how: str, context: Context) -> str:
    context.spend(usd=0.25, tokens=1)
    context.spend(usd=0.25, tokens=2, calls=1)
    if how == "fails":
        raise ToolFailure("transient", "busy")
    if how == "raises":
        raise KeyError(how)
    if how == "asks":
        context.guard.check([Deed("connect", "example.com:443")])
    if how == "lies":
        context.spend(tokens=-3)
    return how


@tool(name="model.ask_later")
async def ask_later(how: str, context: Context) -> str:
    await asyncio.to_thread(ask.function, how, context)
    return how


@tool(name="model.free", repeat="safe")
def free(context: Context) -> str:
    return context.key


@pytest.mark.parametrize("name", ["model.ask", "model.ask_later"])
@pytest.mark.parametrize(("how", "kind"), [("works", None), ("fails", "transient"), ("raises", "unknown"), ("lies", "invalid")])  # fmt: skip
async def test_it_is_told_with_the_outcome_whatever_that_is(name, how, kind, an_attempt):
    outcome = await ToolPerformer([ask, ask_later]).perform(an_attempt(name, {"how": how}))
    assert (outcome.usage, outcome.failure and outcome.failure.kind) == (SOME, kind)


async def test_it_is_told_when_a_person_has_to_agree_first(an_attempt):
    from msgspec.structs import replace

    asking = (Layer("you", network=Terms(ask=("*",))),)
    outcome = await ToolPerformer([ask]).perform(replace(an_attempt("model.ask", {"how": "asks"}), layers=asking))
    assert outcome.approval is not None
    assert outcome.usage == SOME


async def test_who_says_nothing_is_not_counted_as_free(an_attempt):
    assert (await ToolPerformer([free]).perform(an_attempt("model.free"))).usage is None


@pytest.mark.parametrize(
    ("how", "kind"), [("works", None), ("fails", "transient"), ("dies", "in_doubt"), ("lies", "invalid")]
)
async def test_it_crosses_over_from_a_process_of_its_own(how, kind, an_attempt):
    performer = ToolPerformer(load_tools("odd_tools"))
    outcome = await performer.perform(an_attempt("odd.spend", {"how": how}))
    assert (outcome.usage, outcome.failure and outcome.failure.kind) == (SOME, kind)
