"""The demo's refactoring, in any process: a repository, a script for a model, and what shall be there in the end."""

import asyncio
import hashlib
import json
import os
import subprocess
from functools import cache
from pathlib import Path

from demo_answers import answers, refactor
from demo_repository import make

from perdure import Engine
from perdure.agents.reading import stock
from perdure.kits.coding.agents import agents
from perdure.kits.coding.framing import framed, templates
from perdure.kits.coding.tools import TOOLS
from perdure.testing.models import ScriptedModel

BRANCH = "perdure/cents"
INPUTS = {"goal": refactor()["goal"], "branch": BRANCH, "test": ["python3", "-m", "unittest"]}


@cache
def plan():
    return framed(templates()["refactor"].plan)


def settings(place, script=None):
    if script is not None:
        (place / "answers.json").write_text(json.dumps(script))
    model = ScriptedModel.from_file(place / "answers.json")
    return {
        "workspace": place / "till",
        "tools": TOOLS,
        "agents": [*agents(), *stock()],
        "models": {"default": model},
        "agent_planning": True,
    }


def furnish(place):
    place.mkdir(parents=True, exist_ok=True)
    make(place / "till")
    (place / "answers.json").write_text(json.dumps(answers()))
    return place


def git(place, *words, check=True):
    command = ["git", "-C", str(place / "till"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=check, env={**os.environ, "HOME": "/"}).stdout


def tree_of(place, branch=BRANCH):
    """What stands on the branch, as the id of a tree; empty: there is no branch."""
    return git(place, "rev-parse", "--verify", "--quiet", f"{branch}^{{tree}}", check=False).strip()


def untouched(place):
    """All that is the user's: files, index, HEAD, branches that are not ours, stash."""
    root = place / "till"
    files = {str(each.relative_to(root)): _digest(each) for each in sorted(root.rglob("*")) if _is_theirs(root, each)}
    refs = [line for line in git(place, "for-each-ref").splitlines() if "refs/heads/perdure/" not in line]
    return files, refs


def _is_theirs(root, path):
    inside = path.relative_to(root).parts
    is_ours = inside[:2] == (".git", "objects") or inside[:2] == (".git", "logs") or "perdure" in inside
    return path.is_file() and not path.is_symlink() and not is_ours


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def copies(place):
    return [each.parent.name for each in (place / "runs.db.hands").glob("**/branches/*/workspace")]


def work(place: Path, started) -> None:
    """A process that goes on with what is there, or begins."""

    async def go():
        async with Engine.open(place / "runs.db", resume=True, **settings(place)) as engine:
            started.set()
            runs = await engine.journal.runs()
            await (engine.run(runs[0].id) if runs else await engine.start(plan(), INPUTS)).result()

    asyncio.run(go())
