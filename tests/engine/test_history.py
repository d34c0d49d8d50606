"""What was done on the way: visits that later ones came after are still told."""

import pytest

from perdure import Engine, Plan
from perdure.core.calls import Failure
from perdure.engine import history
from perdure.testing.scripted import Scripted

LOOP = Plan.model_validate(
    {
        "inputs": {"what": {"type": "string"}},
        "steps": [
            {"id": "try", "agent": "smith", "task": "Forge ${inputs.what}", "max_visits": 3},
            {"id": "test", "agent": "judge", "on": {"failure": "try"}},
        ],
    }
)


@pytest.mark.anyio
async def test_every_finished_visit_is_told_with_what_it_gave():
    answers = {"try": ["bent", "straight"], "test": [Failure("logic", "it is bent"), "fine"]}
    async with Engine.open(performer=Scripted(answers)) as engine:
        run = await engine.start(LOOP, {"what": "a nail"})
        result = await run.result()
        assert result.inputs == {"what": "a nail"}
        visits = await history(engine.journal, run.id, lambda step: step == "try")
        assert [(each.number, each.exit, each.output) for each in visits] == [
            (1, "success", "bent"),
            (2, "success", "straight"),
        ]
        found = await history(engine.journal, run.id, lambda _: True)
        assert [each.step for each in found if each.failure] == ["test"]
        assert [each.step for each in found] == ["try", "test", "try", "test"]
        assert sorted(each.at for each in found) == [each.at for each in found]


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


@pytest.mark.anyio
async def test_plain_steps_are_in_it_with_every_visit():
    found = await visits(lambda step: step in {"count", "inner", "never"})
    seen = [(each.step, each.number, each.output) for each in found]
    assert seen == [("count", 1, 1), ("inner", 1, 2), ("count", 2, 1), ("inner", 2, 2)]


@pytest.mark.anyio
async def test_groups_are_told_from_those_who_did_it():
    found = await visits(lambda step: step in {"pair", "inner"})
    assert [(each.step, each.output, each.is_group) for each in found][:2] == [("inner", 2, False), ("pair", 2, True)]
