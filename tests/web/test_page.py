"""E8, E16: people steer real runs in a real browser. Each test is one thing that somebody wants to do."""

import json
import os
import re
from pathlib import Path

import pytest
from browser import browsing, expect, need_browser, served

from perdure import Plan, ToolFailure, tool
from perdure.journal import SqliteJournal

pytestmark = pytest.mark.timeout(300)
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "page.png"
DONE = []


def unpack(output: dict) -> None:
    """Unpack it again."""
    if output["packed"] in DONE:
        DONE.remove(output["packed"])


@tool(name="shop.pack", effects=["writes"], undo=unpack)
async def pack(of: str = "") -> dict:
    """Pack something."""
    DONE.append(of)
    return {"packed": of, "label": "<img src=x onerror=alert(1)> https://example.org/parcel javascript:alert(2)"}


@tool(name="shop.weigh")
async def weigh(of: str = "") -> int:
    """Weigh something."""
    if of == "ghost":
        raise ToolFailure("transient", "a ghost weighs nothing")
    return len(of)


TOOLS = [pack, weigh]
ASKING = {
    "goal": "Send a parcel",
    "steps": [
        {"id": "pack", "tool": "shop.pack", "with": {"of": "tea"}},
        {"id": "sure", "ask": "Shall it be sent?"},
        {"id": "weigh", "tool": "shop.weigh", "with": {"of": "tea"}},
    ],
}


@pytest.fixture(autouse=True)
def browser_is_here():
    need_browser()
    DONE.clear()


async def started(engine, plan=ASKING, **inputs):
    run = await engine.start(Plan.model_validate(plan), inputs)
    await run.rested()
    return run


async def step(page, name):
    await page.locator(f".react-flow__node[data-id='{name}']").first.click()


def status(page, word):
    return expect(page.locator(".run-head .status")).to_contain_text(word)


async def test_e16_a_first_run_is_checked_tried_and_started():
    async with served(tools=TOOLS) as (url, _), browsing() as page:
        await page.goto(url)
        await page.get_by_role("link", name="Start a run").click()
        plan = page.get_by_label("The plan", exact=True)
        await plan.fill("goal: Weigh tea\nsteps:\n  - id: weigh\n    tool: shop.wiegh\n    with: { of: tea }\n")
        await expect(page.locator(".flaws")).to_contain_text("shop.weigh")
        await plan.fill("goal: Weigh tea\nsteps:\n  - id: weigh\n    tool: shop.weigh\n    with: { of: tea }\n")
        await expect(page.get_by_text("The plan can be carried out.")).to_be_visible()
        await page.get_by_role("button", name="Dry run").click()
        await expect(page.get_by_role("heading", name="What it would do")).to_be_visible()
        taken = page.get_by_label("What it would take")
        await expect(taken.get_by_role("row", name="Tokens 0 0")).to_be_visible()
        await expect(taken).to_contain_text("Some of it is a guess.")
        await expect(taken).to_contain_text("run it once, or write")
        await page.get_by_role("button", name="Start", exact=True).click()
        await status(page, "succeeded")
        await step(page, "weigh")
        await expect(page.get_by_label("Output", exact=True).locator("pre")).to_have_text("3")
        await page.get_by_role("link", name="Runs", exact=True).click()
        await expect(page.locator(".run-row")).to_contain_text("Weigh tea")


async def test_e16_a_question_says_what_follows_and_is_answered():
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine)
        await page.goto(f"{url}/runs/{run.id}")
        card = page.get_by_role("article")
        await expect(card).to_contain_text("Shall it be sent?")
        await expect(card.locator(".follows").first).to_contain_text("weigh")
        await card.get_by_label("Why (it stands in the journal)").fill("it is late")
        await card.get_by_role("button", name="Approve").click()
        await status(page, "succeeded")
        await page.get_by_role("tab", name="Log").click()
        await expect(page.locator(".fact-said", has_text="(it is late)")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 400])
async def test_e16_runs_are_told_apart_at_a_glance(width):
    ghost = {"goal": "Weigh a ghost " * 20 + "https://example.org", "steps": [{"id": "gone", "fail": "no ghost"}]}
    async with served(tools=TOOLS) as (url, engine), browsing(width=width) as page:
        await started(engine)
        await started(engine, ghost)
        await page.goto(url)
        rows = page.locator(".run-row")
        await expect(rows).to_have_count(2)
        await expect(rows.first).to_contain_text(re.compile(r"failed.*Weigh a ghost.*just now.* s$"))
        await expect(rows.last).to_contain_text(re.compile(r"waiting.*Send a parcel.*1just now.* s$"))
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.get_by_role("link", name="Questions of this run: 1").click()
        await expect(page.get_by_role("article")).to_contain_text("Shall it be sent?")


async def test_e8_how_far_a_run_is_is_told_while_it_goes_on():
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine)
        await page.goto(f"{url}/runs/{run.id}")
        progress = page.get_by_label("Progress", exact=True)
        await expect(progress).to_contain_text(
            re.compile(r"\d+ %, over at .+, by .+ at the latest in nine of ten cases")
        )
        await expect(progress).to_contain_text("This is a guess")
        await expect(progress).to_contain_text("It waits for an answer of people")
        await run.answer("q_sure_1", "approved")
        await expect(progress).to_be_hidden()


async def test_what_strangers_say_is_shown_as_it_is():
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine)
        await page.goto(f"{url}/runs/{run.id}?step=pack")
        output = page.get_by_label("Output", exact=True).first
        await expect(output).to_contain_text("<img src=x onerror=alert(1)>")
        links = await output.get_by_role("link").evaluate_all("all => all.map(each => [each.href, each.rel])")
        assert links == [["https://example.org/parcel", "noopener noreferrer nofollow"]]


async def test_e16_a_plan_is_changed_while_it_is_carried_out():
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine)
        await page.goto(f"{url}/runs/{run.id}")
        await step(page, "weigh")
        await page.get_by_role("button", name="Change the plan here").click()
        await page.get_by_label("What changes").select_option("after")
        text = page.get_by_label("The step as JSON")
        await text.fill(json.dumps({"id": "twice", "tool": "shop.wiegh"}))
        await expect(page.locator(".edit-step .failed")).to_contain_text("shop.wiegh")
        await text.fill(
            json.dumps({"id": "twice", "tool": "shop.weigh", "with": {"of": "${steps.pack.output.packed}"}})
        )
        await expect(page.locator(".edit-step .mark-added")).to_contain_text("twice")
        await page.get_by_role("button", name="Change the plan", exact=True).click()
        await expect(page.locator(".react-flow__node[data-id='twice']")).to_be_visible()
        await page.get_by_role("tab", name="Plan").click()
        await expect(page.locator(".box-added")).to_contain_text("twice")
        await run.answer("q_sure_1", "approved")
        await status(page, "succeeded")
        assert (await run.rested()).steps["twice"].output == 3


async def test_e8_why_a_run_failed_is_found():
    plan = {
        "goal": "Weigh a ghost",
        "steps": [
            {
                "id": "weigh",
                "tool": "shop.weigh",
                "with": {"of": "ghost"},
                "retry": {"attempts": 2},
            }
        ],
    }
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine, plan)
        await page.goto(f"{url}/runs/{run.id}")
        await status(page, "failed")
        await page.get_by_role("link", name="in weigh").click()
        await expect(page.get_by_label("Failure", exact=True)).to_contain_text("a ghost weighs nothing")
        await expect(page.get_by_label("Tries", exact=True).get_by_role("listitem")).to_have_count(2)
        await expect(page.get_by_label("Tries", exact=True)).to_contain_text("then: tried again")


async def test_e8_what_was_done_is_taken_back():
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine)
        assert DONE == ["tea"]
        await page.goto(f"{url}/runs/{run.id}")
        await page.get_by_role("button", name="Roll back").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Why (it stands in the journal)").fill("wrong tea")
        await dialog.get_by_role("button", name="Roll back").click()
        await status(page, "rolled back")
        await expect(page.locator(".box-undone")).to_contain_text("pack")
        assert DONE == []


async def test_e8_a_run_goes_its_own_way_from_the_past_of_another():
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine)
        await run.answer("q_sure_1", "rejected")
        await run.rested()
        await page.goto(f"{url}/runs/{run.id}")
        await status(page, "failed")
        await step(page, "sure")
        await page.get_by_role("button", name="Fork before this step").click()
        await page.wait_for_url(lambda address: run.id not in address)
        await page.get_by_role("article").get_by_role("button", name="Approve").click()
        await status(page, "succeeded")
        await expect(page.get_by_role("link", name=f"fork of {run.id}")).to_be_visible()
        assert DONE == ["tea"]


async def test_e8_the_past_is_looked_at_and_the_present_again():
    async with served(tools=TOOLS) as (url, engine), browsing() as page:
        run = await started(engine)
        await run.answer("q_sure_1", "approved")
        last = len(await engine.journal.read((await run.rested()).id))
        await page.goto(f"{url}/runs/{run.id}")
        await status(page, "succeeded")
        scrubber = page.get_by_role("slider", name="The run after so many facts")
        await scrubber.focus()
        await page.keyboard.press("Home")
        await expect(page.locator(".scrubber-said")).to_contain_text(f"1/{last}")
        await expect(page.locator(".box-idle")).to_have_count(3)
        for _ in range(last):
            await page.keyboard.press("ArrowRight")
        await status(page, "succeeded")
        await page.get_by_role("tab", name="Log").click()
        await page.locator(".fact", has_text="asks: Shall it be sent?").locator(".fact-seq").click()
        await status(page, "waiting")
        await page.get_by_role("button", name="Now").click()
        await status(page, "succeeded")


async def test_e8_a_server_that_dies_and_comes_back_is_seen_to(tmp_path):
    async with browsing() as page:
        async with served(journal=await SqliteJournal.open(tmp_path / "runs.db"), tools=TOOLS) as (url, engine):
            run = await started(engine)
            await page.goto(f"{url}/runs/{run.id}")
            await status(page, "waiting")
        await expect(page.get_by_text("not connected")).to_be_visible()
        port = int(url.rpartition(":")[2])
        async with served(port, journal=await SqliteJournal.open(tmp_path / "runs.db"), tools=TOOLS, resume=True) as (
            _,
            engine,
        ):
            await engine.run(run.id).answer("q_sure_1", "approved")
            await status(page, "succeeded")


async def test_large_plans_are_laid_out_beside_the_page():
    steps = [
        {
            "id": f"g{group}",
            "steps": [{"id": f"s{group}_{n}", "tool": "shop.weigh", "with": {"of": "tea"}} for n in range(100)],
        }
        for group in range(20)
    ]
    async with served(tools=TOOLS) as (url, engine), browsing(dark=True, width=400) as page:
        run = await engine.start(Plan.model_validate({"goal": "Weigh much", "steps": steps}), {})
        await run.pause()
        await page.goto(f"{url}/runs/{run.id}")
        await expect(page.locator(".box").first).to_be_visible()
        await page.get_by_role("button", name="Unfold g0").click()
        await expect(page.locator(".react-flow__node[data-id='s0_0']")).to_be_visible()


async def test_the_picture_in_the_docs_shows_the_page(tmp_path):
    """`make record` puts it there."""
    parcel = {"tool": "shop.pack", "with": {"of": "tea"}}
    plan = {
        **ASKING,
        "budget": {"steps": 8},
        "steps": [
            {
                "id": "ready",
                "parallel": [
                    {"id": "tea", **parcel},
                    {"id": "cups", **parcel},
                    {"id": "heavy", "tool": "shop.weigh", "with": {"of": "tea"}},
                ],
            },
            *ASKING["steps"][1:],
        ],
    }
    async with served(tools=TOOLS) as (url, engine), browsing(height=760) as page:
        run = await started(engine, plan)
        await page.goto(f"{url}/runs/{run.id}")
        await expect(page.get_by_role("article")).to_be_visible()
        await expect(page.get_by_role("meter")).to_be_visible()
        await expect(page.locator(".box-asking")).to_be_visible()
        await page.screenshot(path=PICTURE if os.environ.get("RECORD") == "true" else tmp_path / PICTURE.name)
