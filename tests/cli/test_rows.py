"""The tree that people watch: bounded, however many steps there are."""

import asyncio

from perdure import Plan
from perdure.cli.hints import waits
from perdure.cli.rows import Look, frame, rows
from perdure.core.calls import Failure
from perdure.engine import Engine, View
from perdure.testing.scripted import Scripted

ITEMS = 300
PLAN = Plan.model_validate(
    {
        "inputs": {"list": {"type": "array"}},
        "steps": [
            {"id": "first", "tool": "flow.echo", "with": {"value": "a\x1b[2Jb"}},
            {"id": "each", "map": "${inputs.list}", "steps": [{"id": "ok", "ask": "Fine?"}]},
            {"id": "last", "tool": "flow.echo", "with": {"value": 2}},
        ],
    }
)


def seen(look):
    async def look_at():
        async with Engine.open() as engine:
            run = await engine.start(PLAN, {"list": list(range(ITEMS))})
            await run.rested()
            return look(await View.of(engine.journal, run.id))

    return asyncio.run(look_at())


def test_a_screen_is_never_fuller_than_it_is_high():
    for most in (3, 10, 40):
        assert len(seen(lambda view, most=most: frame(view, most))) <= most


def test_a_few_of_many_are_shown_and_the_others_counted():
    found = seen(lambda view: [row.text for row in frame(view, 100)])
    assert found[0].startswith("✓ first")
    assert found[1].startswith(f"▾ each  0 of {ITEMS} over, {ITEMS} under way")
    assert sum("? ok" in row for row in found) == 8 + 2
    assert sum(" [" in row for row in found) == 8 + 2
    assert any(f"… {ITEMS - 8 - 2:,} more" in row for row in found)
    assert found[-1] == "· last"


def test_all_are_shown_when_all_are_asked_for():
    found = seen(lambda view: [row.text for row in rows(view, Look(None, outputs=True))])
    assert len(found) == 3 + 2 * ITEMS
    assert found[0].endswith("→ a\\u001b[2Jb")


def test_only_some_of_many_questions_are_spelled_out():
    found = seen(lambda view: list(waits(view.state)))
    assert sum("perdure approve" in line for line in found) == 10
    assert f"{ITEMS - 10} more questions" in found[-1]


def test_a_group_that_will_be_done_again_says_so_and_when():
    inside = {"id": "no", "agent": "x", "retry": {"attempts": 1}}
    plan = Plan.from_steps([{"id": "group", "steps": [inside], "retry": {"attempts": 3, "wait": "1h"}}])

    async def look_at():
        async with Engine.open(performer=Scripted({"x": Failure("logic", "no")})) as engine:
            run = await engine.start(plan)
            await run.rested()
            return [row.text for row in frame(await View.of(engine.journal, run.id), 100)]

    (row, *_) = asyncio.run(look_at())
    assert row.startswith("▾ group")
    assert "attempt 2" in row
    assert "again at " in row
