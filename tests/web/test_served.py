"""E16: the page behind the guard, as `perdure serve` hands it out."""

import re
import subprocess
import sys

import pytest
from browser import browsing, expect, need_browser

from perdure import Engine, Plan
from perdure.journal import SqliteJournal

pytestmark = pytest.mark.timeout(300)
ASK = "goal: Ask\nsteps:\n  - id: sure\n    ask: Sure?\n"


@pytest.fixture
def program(tmp_path):
    """Calls `perdure` for a journal of its own; what is begun is ended."""
    need_browser()
    begun = []

    def call(verb, *words):
        command = [sys.executable, "-m", "perdure", verb, "--db", str(tmp_path / "runs.db"), *words]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path)
        begun.append(started)
        return started.stdout

    yield call
    for each in begun:
        each.terminate()
        each.communicate()


def place_and_link(program, *words):
    """Where the server is, and a link for one browser."""
    said = program("serve", "--port", "0")
    assert any("serving" in line for line in iter(said.readline, ""))
    link = re.search(r"http://\S+/open#\S+", program("open", *words).read())[0]
    return link.partition("/open")[0], link


async def test_e16_a_link_lets_a_browser_in_and_nobody_else(program):
    place, link = place_and_link(program)
    async with browsing() as page:
        await page.goto(place)
        await expect(page.get_by_role("alert").first).to_contain_text("perdure open")
        await page.goto(link)
        await expect(page.get_by_text("There are no runs.")).to_be_visible()
        await page.get_by_role("link", name="Start a run").click()
        await page.get_by_label("The plan", exact=True).fill(ASK)
        await page.get_by_role("button", name="Start", exact=True).click()
        await page.get_by_role("article").get_by_role("button", name="Approve").click()
        await expect(page.locator(".run-head .status")).to_contain_text("succeeded")


async def test_e16_who_may_only_look_is_told_so(program, tmp_path):
    async with Engine.open(journal=await SqliteJournal.open(tmp_path / "runs.db")) as engine:
        run = await engine.start(Plan.model_validate({"goal": "Ask", "steps": [{"id": "sure", "ask": "Sure?"}]}), {})
        await run.rested()
    place, link = place_and_link(program, "--scope", "read")
    async with browsing() as page:
        await page.goto(link)
        await expect(page.get_by_text("There are no runs.")).to_be_hidden()
        await page.goto(f"{place}/runs/{run.id}")
        await expect(page.locator(".run-head")).to_contain_text("Steering a run needs the scope run; you have read.")
        await expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
        card = page.get_by_role("article")
        await expect(card).to_contain_text("Answering needs the scope approve; you have read.")
        await expect(card.get_by_role("button", name="Approve")).to_be_disabled()
        await page.get_by_role("link", name="Start", exact=True).click()
        await page.get_by_label("The plan", exact=True).fill(ASK)
        await expect(page.get_by_role("button", name="Dry run")).to_be_enabled()
        await expect(page.get_by_text("Starting a run needs the scope run; you have read.")).to_be_visible()
        await expect(page.get_by_role("button", name="Start", exact=True)).to_be_hidden()
