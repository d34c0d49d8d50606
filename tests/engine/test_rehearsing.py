"""E6: a rehearsal shows what a plan would do, and touches nothing."""

import pytest

from perdure import Context, Engine, Plan, tool
from perdure.plan.model.parts import Policy

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
