"""Makes the golden journals: exported runs that every later release must read, and fold to the same state.

They are made once and then kept. To add one, write it below and run `python tests/support/golden_runs.py`; those that are
there already are not touched.
"""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import perdure.engine.engine as front
from perdure import Adjustment, Context, Engine, Happened, NotHappened, Plan, ToolFailure, tool
from perdure.core.calls import Approval, Failure, Outcome, Usage
from perdure.core.growth import Finish, Move
from perdure.engine import Result, forking
from perdure.journal import MemoryJournal
from perdure.plan.model.parts import Policy
from perdure.testing.clock import FakeClock, run
from perdure.testing.crashes import Disk, crashing
from perdure.testing.replays import digest_of_state, folded
from perdure.testing.scripted import Scripted

GOLDEN = Path(__file__).parents[1] / "golden"


def takes(seconds, answer=None):
    async def later(attempt):
        attempt.report(0.5, "half-way")
        await asyncio.sleep(seconds)
        return answer

    return later


@tool(name="golden.pay", repeat="never")
async def pay(context: Context) -> str:
    """Pay, which takes a while."""
    await asyncio.sleep(100)
    return context.key


@tool(name="golden.keep", repeat="keyed")
async def keep(context: Context) -> str:
    """Keep something, which takes a while."""
    await asyncio.sleep(50)
    return "kept"


def opened(disk, **settings):
    return Engine.open(journal=Disk(disk), clock=FakeClock(), tools=[pay, keep], **settings)


async def order(disk):
    """Steps in every order: one after another, by needs, for each item, in a plan within, over and over, under a lock."""
    script = Scripted(
        {
            "fetch": [Failure("transient", "busy", 2.0, {"code": 503}), {"items": [1, 2, 3], "text": "é" * 2_000}],
            "judge": [Outcome(exit="again"), Outcome("fine")],
            "item": lambda attempt: attempt.call.arguments["with"]["of"] * 2,
        },
        default="done",
    )
    plan = {
        "goal": "Try every order",
        "inputs": {"name": {"type": "string", "default": "world"}},
        "steps": [
            {"id": "fetch", "agent": "x", "retry": {"attempts": 3, "wait": "1s"}, "with": {"for": "${inputs.name}"}},
            {
                "id": "each",
                "map": "${steps.fetch.output.items}",
                "limit": 2,
                "steps": [{"id": "item", "agent": "x", "with": {"of": "${item}"}}],
            },
            {"id": "never", "agent": "x", "when": "1 > 2"},
            {
                "id": "graph",
                "mode": "graph",
                "locks": ["door"],
                "steps": [
                    {"id": "a", "agent": "x"},
                    {"id": "b", "agent": "x", "needs": ["a"]},
                    {"id": "c", "agent": "x", "locks": ["window"]},
                ],
            },
            {"id": "inner", "plan": {"steps": [{"id": "deep", "model": "weak", "prompt": "Think"}]}},
            {"id": "work", "agent": "x", "max_visits": 3},
            {"id": "judge", "agent": "x", "verdicts": ["again"], "on": {"again": "work"}},
            {
                "id": "choose",
                "decide": "size(steps.each.output) > 2 ? 'many' : 'few'",
                "choices": ["many", "few"],
                "on": {"many": "next", "few": "fail"},
            },
        ],
        "output": {"each": "${steps.each.output}", "visits": "${steps.work.visits}"},
    }
    async with opened(disk, performer=script) as engine:
        await (await engine.start(Plan.model_validate(plan), seed=1)).result()


async def people(disk):
    """Questions, signals, pauses and the clock."""
    plan = {
        "steps": [
            {"id": "approve", "ask": "Shall we?"},
            {
                "id": "which",
                "ask": "Which?",
                "choices": ["left", "right"],
                "deadline": "1h",
                "default": "left",
                "on": {"left": "next", "right": "next"},
            },
            {"id": "bell", "wait": {"signal": "bell"}},
            {"id": "sleep", "wait": "2h"},
            {"id": "late", "wait": {"signal": "horn", "for": "10s"}},
        ]
    }
    async with opened(disk) as engine:
        handle = await engine.start(Plan.model_validate(plan), seed=2)
        await handle.answer("q_approve_1", "approved", by="anna")
        await handle.pause("lunch", by="anna")
        await asyncio.sleep(60)
        await handle.resume(by="anna")
        await handle.signal("bell", {"rings": 3}, by="tower")
        await handle.result()


async def crashes(disk):
    """Processes die: what is harmless is done again, and a person is asked about the rest."""
    plan = Plan.model_validate(
        {
            "steps": [
                {
                    "id": "g",
                    "parallel": [
                        {"id": "model", "agent": "x"},
                        {"id": "keep", "tool": "golden.keep"},
                        {"id": "pay", "tool": "golden.pay"},
                    ],
                }
            ]
        }
    )
    script, clock = Scripted({"model": takes(10, "thought")}), FakeClock()
    async with crashing(disk, clock=clock, tools=[pay, keep], performer=script) as engine:
        handle = await engine.start(plan, seed=3)
        await asyncio.sleep(5)
    async with Engine.open(journal=Disk(disk), clock=clock, tools=[pay, keep], performer=script, resume=True) as engine:
        handle = engine.run(handle.id)
        await asyncio.sleep(60)
        await handle.answer("q_pay_1_doubt1", {"choice": "happened", "output": "paid"}, by="anna")
        await handle.result()


async def undone(disk):
    """Losers are taken back, one effect stays, and a rollback goes back to a checkpoint."""
    script = Scripted(
        {
            "slow": takes(100),
            "first": takes(1, "won"),
            "stays!": Failure("logic", "it is set in stone"),
            "quick": "quick",
        },
        default=1,
    )
    undo = {"undo": {"agent": "x", "task": "take it back"}}
    plan = {
        "steps": [
            {
                "id": "race",
                "join": "any",
                "parallel": [
                    {"id": "first", "agent": "x"},
                    {"id": "other", "steps": [{"id": "quick", "agent": "x", **undo}, {"id": "slow", "agent": "x"}]},
                ],
            },
            {"id": "mark", "checkpoint": True},
            {"id": "goes", "agent": "x", **undo},
            {"id": "stays", "agent": "x", "retry": {"attempts": 2}, **undo},
            {"id": "back", "rollback": "mark", "on": {"failure": "next"}},
        ]
    }
    async with opened(disk, performer=script) as engine:
        await (await engine.start(Plan.model_validate(plan), seed=4)).result()


def twice(occasion):
    """Wants one change that can be, and one that cannot."""
    if occasion.step == "b_1":
        return Adjustment([{"insert": {"id": "late", "agent": "x"}, "into": ""}], "somebody said so")
    return Adjustment([{"remove": "a"}], "it is done") if occasion.step == "late" else None


async def adjusted(disk):
    """The plan changes by rule, by a result, by a function and because of a failure; one change is refused."""
    plan = {
        "adjust": {
            "rules": [
                {
                    "after": ["a"],
                    "when": "output.many",
                    "edits": [{"insert": {"id": "b", "agent": "x", "grows": {"into": "g"}}, "after": "a"}],
                    "why": "there are many",
                },
                {
                    "after": ["c"],
                    "on": ["replan"],
                    "kinds": ["logic"],
                    "edits": [{"insert": {"id": "d", "agent": "x"}, "after": "c"}],
                },
            ]
        },
        "steps": [{"id": "a", "agent": "x"}, {"id": "g", "parallel": []}, {"id": "c", "agent": "x"}],
    }
    answers = {"a": {"many": True}, "b": {"next_steps": [{"agent": "x"}]}, "c": Failure("logic", "no")}
    async with opened(disk, performer=Scripted(answers, default=1), agent_planning=True, adjust=twice) as engine:
        await (await engine.start(Plan.model_validate(plan), seed=6)).result()


def wanting(view):
    """Have the plan changed, which cannot be; and then in a way that can."""
    if view.live:
        return None
    places = ["nobody", "a"]
    if view.born == len(places):
        return Finish(output="${steps.s2.output.plan}")
    edit = {"insert": {"id": "mark", "checkpoint": True}, "after": places[view.born]}
    return Move(add=[{"tool": "planning.replan", "with": {"reason": "it is late", "edits": [edit]}}])


async def replanned(disk):
    """An agent at work has the plan changed, after a wish that was refused; a failure is planned round with a tool."""
    steps = [{"id": "a", "agent": "x", "task": "See."}, {"id": "b", "tool": "sky.broken", "with": {"town": "Ulm"}}]
    plan = {"adjust": {"planner": "tools"}, "steps": steps, "output": "${steps.b.output}"}
    settings = {"tools": [broken, sky], "strategies": {"agent:x": wanting}, "agent_planning": True}
    async with Engine.open(journal=Disk(disk), clock=FakeClock(), **settings) as engine:
        await (await engine.start(Plan.model_validate(plan), seed=7)).result()


@tool(name="sky.broken", repeat="safe", effects=[], skills=["sky"])
async def broken(town: str) -> str:
    """Never works."""
    raise ToolFailure("logic", "no")


@tool(name="sky.look", repeat="safe", effects=[], skills=["sky"])
async def sky(town: str) -> str:
    """Look up."""
    return f"blue over {town}"


async def stopped(disk):
    """One attempt takes too long, and then somebody has had enough: an open question is closed."""
    plan = {
        "steps": [
            {"id": "late", "agent": "x", "timeout": "5s", "on": {"failure": "next"}},
            {"id": "g", "parallel": [{"id": "long", "agent": "x"}, {"id": "q", "ask": "Is it enough?"}]},
        ]
    }
    async with opened(disk, performer=Scripted(default=takes(1_000))) as engine:
        handle = await engine.start(Plan.model_validate(plan), seed=5)
        await asyncio.sleep(20)
        await handle.cancel(reason="enough", by="anna")
        await handle.result()


async def tried_again(disk):
    """A run fails, and goes on with a new visit of the step that had failed."""
    script = Scripted({"a": 1, "b": [Failure("denied", "no key"), 2]})
    async with opened(disk, performer=script) as engine:
        handle = await engine.start(
            Plan.model_validate({"steps": [{"id": "a", "agent": "x"}, {"id": "b", "agent": "x"}]}), seed=6
        )
        await handle.result()
        await engine.retry(handle.id, by="anna")
        await handle.result()


def thinking(view):
    """Two thoughts, one after the other."""
    if view.first:
        return Move([{"model": "weak", "prompt": "one"}, {"model": "weak", "prompt": "two", "needs": ["s1"]}], memo=1)
    if view.live:
        return None
    return Finish("success", {"thoughts": view.born})


async def grown(disk):
    """An agent whose steps a strategy grows."""

    async with opened(disk, performer=Scripted(default="thought"), strategies={"agent:x": thinking}) as engine:
        await (
            await engine.start(Plan.model_validate({"steps": [{"id": "a", "agent": "x", "task": "Think"}]}), seed=7)
        ).result()


async def plain(disk):
    """Steps that are told by two facts each: in a row, in a graph, in a loop, with a verdict; and values of all sizes."""
    plan = {
        "steps": [
            {"id": "one", "agent": "x", "task": "Begin"},
            {"id": "fan", "mode": "graph", "steps": [{"id": f"f{n}", "agent": "x", "task": "Go"} for n in range(3)]},
            {"id": "look", "agent": "x", "verdicts": ["more"], "max_visits": 3, "on": {"more": "look"}},
            {"id": "large", "agent": "x", "task": "Tell"},
        ]
    }
    script = Scripted(
        {"one": 1, "f0": "a", "f1": [1, 2], "f2": None, "look": [Outcome(1, "more"), 2], "large": "x" * 9_000}
    )
    async with opened(disk, performer=script) as engine:
        await (await engine.start(Plan.model_validate(plan), seed=8)).result()


async def budgets(disk):
    """Reserved, reported, overrun; one budget asks for more, one is finished with, one fails."""
    plan = {
        "budget": {"tokens": 1_000, "usd": 1.0, "steps": 20, "seconds": 100, "then": "ask"},
        "steps": [
            {"id": "think", "model": "weak", "prompt": "Think", "estimate": {"tokens": 300, "usd": 0.25}},
            {
                "id": "again",
                "model": "weak",
                "prompt": "Think again",
                "estimate": {"tokens": 300},
                "retry": {"attempts": 2},
            },
            {
                "id": "some",
                "budget": {"steps": 2, "then": "finish"},
                "map": [1, 2, 3],
                "limit": 1,
                "steps": [{"id": "item", "agent": "x", "estimate": {"tokens": 10}}],
            },
            {
                "id": "none",
                "budget": {"depth": 0},
                "steps": [{"id": "deep", "agent": "x"}],
                "on": {"failure": "next"},
            },
            {"id": "long", "agent": "x", "estimate": {"seconds": 30, "tokens": 100}},
        ],
    }
    script = Scripted(
        {
            "think": Outcome("hm", usage=Usage(tokens=500, usd=0.25, calls=1)),
            "again": [
                Outcome(exit="failure", failure=Failure("transient", "busy"), usage=Usage(tokens=100)),
                Outcome("aha", usage=Usage(seconds=1.5, tokens=700, usd=0.5, calls=2)),
            ],
            "item": Outcome(1, usage=Usage(tokens=5)),
            "long": takes(10, "done"),
        }
    )
    async with opened(disk, performer=script) as engine:
        handle = await engine.start(Plan.model_validate(plan), seed=9)
        await asyncio.sleep(20)
        await handle.answer("q_run_1_tokens", 5_000, by="anna", reason="it is worth it")
        await handle.result()


async def recovered(disk):
    """Every rung: again, simpler, relaxed, another way, a person, back to the start of a group, on without it."""
    undo = {"undo": {"agent": "x", "task": "take it back"}}
    plan = {
        "steps": [
            {
                "id": "ways",
                "agent": "x",
                "retry": {"attempts": 2},
                "simpler": {"agent": "light"},
                "alternates": [{"agent": "other", "task": "Go round"}],
            },
            {"id": "loose", "agent": "x", "accept": ["output > 8"], "relaxed": ["output > 3"]},
            {"id": "asked", "agent": "x", "recovery": {"denied": ["ask"]}},
            {
                "id": "g",
                "steps": [{"id": "deed", "agent": "x", **undo}, {"id": "wrong", "agent": "x"}],
                "recovery": {"logic": ["rollback"]},
                "on": {"failure": "h"},
            },
            {
                "id": "h",
                "steps": [{"id": "stuck", "agent": "x", "recovery": {"other": ["fail"]}}],
                "recovery": {"stalled": ["ask"]},
            },
            {"id": "last", "agent": "x", "recovery": {"unavailable": ["continue"]}},
        ]
    }
    busy = Failure("transient", "busy")
    script = Scripted(
        {
            "ways": [busy, busy, Failure("logic", "too light"), "round"],
            "loose": 5,
            "asked": Failure("denied", "no key"),
            "wrong": Failure("logic", "no"),
            "stuck": [Failure("stalled", "again"), "free"],
            "last": Failure("unavailable", "gone", 5.0),
        },
        default=1,
    )
    async with opened(disk, performer=script) as engine:
        handle = await engine.start(Plan.model_validate(plan), seed=11)
        await asyncio.sleep(60)
        await handle.answer("q_asked_1_failed1", {"choice": "done", "output": "by hand"}, by="anna")
        await asyncio.sleep(60)
        await handle.answer("q_h_1_failed1", "again", by="anna")
        await handle.result()


@tool(name="golden.archive", repeat="safe", effects=[], skills=["weather"])
async def archive(town: str) -> str:
    """Look the weather up where it was written down."""
    return f"{town}: as it was"


@tool(name="golden.weather", repeat="safe", effects=["network"], hosts=["weather.example:443"])
async def weather(town: str) -> str:
    """Ask for the weather, which nobody knows."""
    raise ConnectionRefusedError(town)


def strayed_strategy(view):
    """Does one step, and gives what that gave."""
    if view.first:
        return Move(add=[{"agent": "x", "task": view.task}])
    (child,) = view.fresh
    return Finish("failure", failure=child.failure) if child.failure else Finish(output=child.output)


async def strayed(disk):
    """Other ways of a group, of an agent and of a plan, a tool that is found by skill, a judge that has to be allowed."""
    undo = {"undo": {"agent": "x", "task": "take it back"}}
    plan = {
        "steps": [
            {
                "id": "g",
                "steps": [{"id": "deed", "agent": "x", **undo}, {"id": "wrong", "agent": "x"}],
                "simpler": {"agent": "light"},
                "alternates": [{"agent": "grower", "task": "Another way"}],
                "timeout": "1m",
            },
            {"id": "ag", "agent": "grower", "task": "One way", "alternates": [{"agent": "whole"}]},
            {
                "id": "p",
                "plan": {"steps": [{"id": "inside", "agent": "x"}]},
                "accept": ["output > 8"],
                "relaxed": ["output > 3"],
            },
            {
                "id": "sky",
                "tool": "golden.weather",
                "with": {"town": "Ulm"},
                "skills": ["weather"],
                "retry": {"attempts": 1},
            },
            {"id": "draft", "agent": "x", "accept": [{"tool": "golden.keep"}], "recovery": {"logic": ["ask"]}},
        ]
    }
    no = Failure("logic", "no")
    script = Scripted(
        {
            "wrong": no,
            "light": no,
            "g/1.1": "grown",
            "ag/1.1": no,
            "whole": "whole",
            "inside": 5,
            "draft": no,
            "draft~": [Outcome(approval=Approval("d", "keep a copy")), True],
        },
        default=1,
    )
    grown = {"agent:grower": strayed_strategy}
    settings = {"performer": script, "strategies": grown, "clock": FakeClock(), "tools": [archive, weather]}
    async with Engine.open(journal=Disk(disk), policy=Policy(network=("weather.example:443",)), **settings) as engine:
        handle = await engine.start(Plan.model_validate(plan), seed=14)
        await asyncio.sleep(60)
        await handle.answer("q_draft_1_failed1", {"choice": "done", "output": "by hand"}, by="anna")
        await asyncio.sleep(60)
        await handle.answer("q_draft_1_judge1", True, by="anna")
        await handle.result()


async def judged(disk):
    """A tool judges what a step gives: once it cannot be reached, once it objects, once it is content."""
    plan = {
        "steps": [
            {
                "id": "draft",
                "agent": "x",
                "retry": {"attempts": 2, "wait": "1s"},
                "accept": ["output > 0", {"tool": "golden.keep", "title": "Good enough"}],
            }
        ]
    }
    script = Scripted(
        {"draft": [1, 2], "draft~": [Failure("unavailable", "later"), {"met": False, "why": "too small"}, True]}
    )
    async with opened(disk, performer=script) as engine:
        await (await engine.start(Plan.model_validate(plan), seed=12)).result()


async def unpay(output: str | None) -> None:
    """Take a payment back."""


SEEN = []


async def found(key: str) -> Happened | NotHappened:
    """First the other side cannot be reached, then it knows."""
    SEEN.append(key)
    if len(SEEN) == 1:
        raise ConnectionError("nobody answers")
    return Happened("booked")


@tool(name="golden.book", repeat="never", probe=found, effects=["network"], hosts=["books.example:443"])
async def book() -> str:
    """Book, which takes a while, and can be looked up."""
    await asyncio.sleep(100)
    return "booked"


@tool(name="golden.charge", repeat="never", undo=unpay, effects=["irreversible"])
async def charge() -> str:
    """Charge, which takes a while, and can be taken back."""
    await asyncio.sleep(100)
    return "charged"


async def doubted(disk):
    """A rule asks first, a probe looks twice, a person has a charge taken back; then all of it is rolled back."""
    plan = Plan.model_validate(
        {
            "policy": {"ask": ["irreversible"], "network": ["books.example:443"]},
            "steps": [
                {"id": "so_far", "checkpoint": True},
                {
                    "id": "g",
                    "parallel": [
                        {"id": "book", "tool": "golden.book"},
                        {"id": "charge", "tool": "golden.charge", "on": {"failure": "next"}},
                        {"id": "later", "tool": "golden.charge"},
                    ],
                    "join": "settled",
                },
            ],
        }
    )
    SEEN.clear()
    clock, tools = FakeClock(), [book, charge]
    world = {"clock": clock, "tools": tools, "policy": Policy.model_validate({"network": ["*.example:443"]})}
    async with crashing(disk, **world) as engine:
        handle = await engine.start(plan, seed=4)
        await asyncio.sleep(5)
        await handle.answer("q_charge_1_approval1", True, by="anna")
        await handle.answer("q_later_1_approval1", "approved", by="anna")
        await asyncio.sleep(5)
    async with Engine.open(journal=Disk(disk), resume=True, **world) as engine:
        handle = engine.run(handle.id)
        await asyncio.sleep(60)
        await handle.answer("q_charge_1_doubt2", "undo", by="anna")
        await handle.answer("q_later_1_doubt2", {"choice": "happened", "output": "charged"})
        await handle.result()
        await handle.rollback(to="so_far", reason="it was a trial", by="anna")
        await handle.result()


async def revised(disk):
    """A plan that was edited twice while its run waited, in a loop and in the middle of a graph."""
    again = {"id": "again", "decide": "steps.write.visits < 2 ? 'write' : 'go_on'", "choices": ["write", "go_on"]}
    plan = Plan.model_validate(
        {
            "budget": {"steps": 40},
            "steps": [
                {"id": "write", "tool": "flow.echo", "with": {"value": "draft"}, "max_visits": 4},
                {"id": "read", "ask": "Good enough?"},
                {**again, "on": {"go_on": "next"}},
                {"id": "both", "mode": "graph", "steps": [
                    {"id": "left", "ask": "Left?"},
                    {"id": "right", "tool": "flow.echo", "with": {"value": 1}, "needs": ["left"]},
                ]},
                {"id": "never", "tool": "flow.echo", "with": {"value": 0}},
            ],
        }
    )  # fmt: skip
    async with Engine.open(journal=Disk(disk), clock=FakeClock()) as engine:
        handle = await engine.start(plan, seed=4)
        await asyncio.sleep(1)
        better = {"id": "write", "tool": "flow.echo", "with": {"value": "better"}, "max_visits": 4}
        await handle.revise([{"replace": "write", "step": better}, {"remove": "never"}], by="anna", why="too short")
        await handle.answer("q_read_1", True, by="anna")
        await asyncio.sleep(1)
        await handle.answer("q_read_2", True, by="anna")
        await asyncio.sleep(1)
        third = {"id": "third", "tool": "flow.echo", "with": {"value": "${steps.write.output}"}}
        await handle.revise(
            [{"insert": third, "into": "both"}, {"amend": "", "fields": {"budget": {"steps": 20}}}], base=1
        )
        await handle.answer("q_left_1", True, by="anna")
        await handle.result()


async def mended(disk):
    """A run fails and goes on with another plan: what failed is another step, one comes before it, one is new in a graph."""
    plan = {
        "steps": [
            {"id": "first", "agent": "x"},
            {"id": "g", "mode": "graph", "steps": [
                {"id": "a", "agent": "x"},
                {"id": "h", "needs": ["a"], "steps": [{"id": "b", "agent": "x"}, {"id": "c", "agent": "x"}]},
            ]},
            {"id": "last", "agent": "x", "with": {"given": "${steps.g.output}"}},
        ]
    }  # fmt: skip
    script = Scripted({"b": Failure("denied", "no key")}, default=1)
    async with opened(disk, performer=script) as engine:
        handle = await engine.start(Plan.model_validate(plan), seed=14)
        await handle.result()
        await asyncio.sleep(60)
        edits = [
            {"insert": {"id": "key", "agent": "x"}, "before": "b"},
            {"replace": "b", "step": {"id": "b", "agent": "y", "with": {"key": "${steps.key.output}"}}},
            {"insert": {"id": "d", "agent": "x", "needs": ["h"]}, "into": "g"},
        ]
        script.script["b"] = 2
        await handle.retry(by="anna", edits=edits, why="there was no key", base=0)
        await handle.result()


async def forked(disk):
    """A run fails while another step is at work; its fork goes on with other inputs, and is then taken back."""
    undo = {"undo": {"agent": "x", "task": "take it back"}}
    plan = {
        "goal": "Greet ${inputs.name}",
        "inputs": {"name": {"type": "string", "default": "world"}},
        "steps": [
            {"id": "first", "agent": "x", **undo},
            {"id": "g", "parallel": [{"id": "long", "agent": "x", **undo}, {"id": "bad", "agent": "x"}]},
            {"id": "greet", "agent": "x", "with": {"name": "${inputs.name}"}, **undo},
        ],
    }
    script = Scripted({"long": takes(10, "at last"), "bad": [takes(5, Failure("denied", "no key")), 2]}, default=1)
    named = front.new_id("r", 0)
    front.new_id, forking.new_id = lambda *_: f"{named}_of", front.new_id
    async with opened(disk, performer=script) as engine:
        handle = await engine.start(Plan.model_validate(plan), seed=11)
        await handle.result()
        await asyncio.sleep(60)
        fork = await engine.fork(handle.id, inputs={"name": "anna"}, by="anna")
        await fork.result()
        await engine.rollback(fork.id)
        await fork.result()


def finish(view):
    return Finish(output=view.task)


INNER = Plan.model_validate({"steps": [{"id": "say", "tool": "flow.echo", "with": {"value": "said"}}]})
NEW_NAMES = {"strategies": {"fast": finish}, "plans": {"second": INNER}}


async def renamed(disk):
    """A tool, a strategy and a plan by name are called otherwise when the run goes on, and the tool once more."""
    plan = Plan.model_validate(
        {
            "steps": [
                {"id": "ready", "ask": "Ready?"},
                {"id": "keep", "tool": "golden.store"},
                {"id": "think", "agent": "thinker", "strategy": "slow"},
                {"id": "inner", "plan": "first"},
            ],
        }
    )

    def at(**settings):
        return Engine.open(journal=Disk(disk), clock=FakeClock(), **settings)

    old = tool(name="golden.store", repeat="keyed")(keep.function)
    async with at(tools=[old], strategies={"slow": finish}, plans={"first": INNER}) as engine:
        handle = await engine.start(plan, seed=5)
        await asyncio.sleep(1)
    async with at(tools=[tool(name="golden.put", repeat="keyed")(keep.function)], **NEW_NAMES) as engine:
        names = {"golden.store": "golden.put", "slow": "fast", "first": "second"}
        await engine.resume(handle.id, "anna", map=names)
    async with at(tools=[keep], **NEW_NAMES) as engine:
        await engine.resume(handle.id, "anna", map={"golden.put": "golden.keep"})
        await engine.answer(handle.id, "q_ready_1", True, by="anna")
        await engine.run(handle.id).result()


RUNS = [
    order, people, crashes, undone, stopped, tried_again, grown, plain, budgets, recovered, judged, revised, doubted,
    forked, strayed, adjusted, mended, renamed, replanned,
]  # fmt: skip
TOOLS = [pay, keep, book, charge, archive, weather, broken, sky]
STRATEGIES = {
    "grown": {"agent:x": thinking},
    "replanned": {"agent:x": wanting},
    "strayed": {"agent:grower": strayed_strategy},
}
"""By the name of the run that needs them."""


def expected_of(state):
    """What a golden journal must always fold to."""
    result = Result(state)
    exits = {key: [cell.exit, cell.visits] for key, cell in result.steps.items()}
    return {"status": result.status, "output": result.output, "exits": exits, "digest": digest_of_state(state)}


async def _make(recipe):
    disk, name = MemoryJournal(), f"r_golden_{recipe.__name__}"
    front.new_id = lambda *_: name
    await recipe(disk)
    lines = [line async for line in disk.export(name)]
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines), expected_of(
        await folded(disk, name)
    )


def main():
    """Write those that are missing."""
    GOLDEN.mkdir(exist_ok=True)
    for recipe in RUNS:
        path = GOLDEN / f"{recipe.__name__}.jsonl"
        if not path.exists():
            lines, expected = run(_make(recipe))
            path.write_bytes(lines)
            path.with_suffix(".json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
