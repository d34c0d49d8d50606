"""The visits of a run that are over, in order."""

from perdure import Engine, Plan
from perdure.engine import history

PLAN = Plan.from_steps(
    [
        {"id": "count", "tool": "flow.echo", "with": {"value": 1}, "max_visits": 2, "on": {"exhausted": "end"}},
        {"id": "pair", "steps": [{"id": "inner", "tool": "flow.echo", "with": {"value": 2}}]},
        {"id": "never", "when": "false", "tool": "flow.echo", "with": {"value": 3}},
        {"id": "back", "decide": "'count'", "choices": ["count"]},
        {"id": "end", "done": True},
    ]
)


async def visits(about):
    async with Engine.open() as engine:
        run = await engine.start(PLAN)
        await run.result()
        return await history(engine.journal, run.id, about)


async def test_plain_steps_are_in_it_with_every_visit():
    found = await visits(lambda step: step in {"count", "inner", "never"})
    seen = [(each.step, each.number, each.output) for each in found]
    assert seen == [("count", 1, 1), ("inner", 1, 2), ("count", 2, 1), ("inner", 2, 2)]


async def test_groups_are_told_from_those_who_did_it():
    found = await visits(lambda step: step in {"pair", "inner"})
    assert [(each.step, each.output, each.is_group) for each in found][:2] == [("inner", 2, False), ("pair", 2, True)]
