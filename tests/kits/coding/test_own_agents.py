"""T11: agents of the user and of the project stand in the place of those of the kit."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from perdure import Engine
from perdure.cli.heads import known_agents
from perdure.kits.coding.framing import framed, templates
from perdure.kits.coding.tools import TOOLS
from perdure.testing.models import ScriptedModel

EXAMPLES = Path(__file__).parents[3] / "examples"
OURS = "You change the code of this shop."
MINE = "---\nstrategy: react\ntools: [files.edit]\n---\nYou are mine.\n"
INPUTS = {"goal": "Raise it", "branch": "raise", "test": ["python3", "test_price.py"]}
TEXT = "PRICE = 12\n"
SCRIPT = {
    "Say what has to be done": {"summary": "Raise it", "files": ["price.py"]},
    "Give the whole text": {"files": [{"path": "price.py", "text": TEXT}]},
}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    shutil.copytree(EXAMPLES / "tutorial/shop", tmp_path / "shop")
    for words in ("init -q -b main", "add .", "-c user.name=Ann -c user.email=ann@example.com commit -qm Open"):
        command = ["git", "-C", tmp_path / "shop", *words.split()]
        subprocess.run(command, check=True)
    return tmp_path / "shop"


def put(directory, text):
    directory.mkdir(parents=True)
    (directory / "code.md").write_text(text, encoding="utf-8")


async def asked(shop):
    """What the models of a run were told that agents of the name `code` are."""
    model = ScriptedModel(SCRIPT)
    people = [each.agent for each in known_agents(shop)]
    settings = {"workspace": shop, "tools": TOOLS, "agents": people, "models": {"default": model}}
    async with Engine.open(shop.parent / "runs.db", **settings) as engine:
        result = await (await engine.start(framed(templates()["linear"].plan), INPUTS)).result()
        assert result.status == "succeeded", result.failure
    return [each.instructions for each in model.asked if "Give the whole text" in each.remarks[0].text]


def test_the_kits_agent_is_taken_where_nobody_has_another(shop):
    [told] = asyncio.run(asked(shop))
    assert "You change the code of a repository." in told


def test_a_project_has_its_own(shop):
    put(shop / "perdure/agents", (EXAMPLES / "agents/code.md").read_text(encoding="utf-8"))
    [told] = asyncio.run(asked(shop))
    assert OURS in told


def test_the_users_own_counts_before_that(shop):
    put(shop / "perdure/agents", (EXAMPLES / "agents/code.md").read_text(encoding="utf-8"))
    put(shop.parent / "home/.config/perdure/agents", MINE)
    [told] = asyncio.run(asked(shop))
    assert "You are mine." in told
