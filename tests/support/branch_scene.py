"""A search on copies of a workspace, in any process: what is there before, what shall be there after, and nothing else."""

import asyncio
import re

from perdure import Engine, Plan
from perdure.agents import Agent
from perdure.ports import Said
from perdure.testing.models import ScriptedModel

ACT = {
    "steps": [
        {"id": "put", "tool": "files.write", "with": {"path": "plan.txt", "text": "${inputs.output}"}},
        {
            "id": "mine",
            "tool": "files.write",
            "with": {"path": "by/${inputs.branch}.txt", "text": "level ${inputs.level}"},
        },
    ]
}
SEARCH = {"act": ACT, "staged": True, "judge": {"expr": "size(output)"}, "width": 2, "beam": 1, "depth": 2, "again": 0}
PLAN = Plan.model_validate({"steps": [{"id": "go", "agent": "finder", "task": "Find it."}]})
BEFORE = {"plan.txt": "none", "other.txt": "other"}
LINE = ["xbb", "xbbbb"]
MANY = 400
AFTER = {"plan.txt": "xbbbb", "other.txt": "other", "by/s4.txt": "level 1", "by/s8.txt": "level 2"}


def proposing(request):
    """The second proposal is the longer one."""
    said = [each.text for each in request.remarks if isinstance(each, Said)][-1]
    chosen = re.search(r"This was chosen:\n(.*?)\n", said)
    return f"{chosen[1] if chosen else 'x'}{['a', 'bb'][int(re.search(r'proposal (.)', said)[1]) - 1]}"


def settings(place):
    agents = [Agent(name="finder", strategy="tree", options=SEARCH)]
    return {"workspace": place / "work", "agents": agents, "models": {"default": ScriptedModel(proposing)}}


def furnish(place, many=0):
    """A workspace; so many files beside the others make a copy take its time."""
    (place / "work/many").mkdir(parents=True)
    for n in range(many):
        (place / "work/many" / str(n)).write_text("x" * 1_000)
    for name, text in BEFORE.items():
        (place / "work" / name).write_text(text)
    return place


def seen(place):
    work = place / "work"
    return {
        str(each.relative_to(work)): each.read_text()
        for each in work.rglob("*")
        if each.is_file() and "many" not in each.parts
    }


def copies(place):
    home = place / "runs.db.hands/branches"
    return [each.name for each in home.iterdir() if each.is_dir()] if home.is_dir() else []


def check_meanwhile(place):
    """Whatever moment it was: each file of the workspace is as before or as after, and there are no others."""
    for name, text in seen(place).items():
        if not name.rpartition("/")[2].startswith(".perdure-"):
            assert text in (BEFORE.get(name), AFTER.get(name)), name


def work(place, started):
    """A process that goes on with what is there, or begins."""

    async def go():
        async with Engine.open(place / "runs.db", resume=True, **settings(place)) as engine:
            started.set()
            runs = await engine.journal.runs()
            await (engine.run(runs[0].id) if runs else await engine.start(PLAN)).result()

    asyncio.run(go())
