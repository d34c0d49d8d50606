"""E10: ways of working, dead at some turn: the same tree stands in the end, and no thought is paid twice."""

import asyncio
import shutil
from collections import Counter

import branching_scene
import larger_scenes
import loop_scene
import memory_scene
import pytest
from deaths import dying
from git_shop import git
from repositories.project import project
from snapshots import difference, snapshot
from ways import BRANCH, TEST, Workshop, is_ours, plan_of

from perdure import Engine
from perdure.core import events as e
from perdure.core.events import decode
from perdure.journal.memory import MemoryJournal
from perdure.testing.crashes import Disk
from perdure.testing.replays import assert_replays

WAYS = {
    "loop": (loop_scene.furnished, loop_scene.SCRIPT),
    "memory": (project, memory_scene.SCRIPT),
    "branching": (project, branching_scene.SCRIPT),
    **larger_scenes.SCENES,
}


class Scene:
    """One way, in a place of its own."""

    def __init__(self, root, way):
        furnish, script = WAYS[way]
        furnish(root / "project")
        self.shop, self.plan, self.journal = Workshop(root, script), plan_of(way), MemoryJournal()
        self.inputs = {"goal": "Multiply numbers in the calculator", "branch": BRANCH, "test": TEST}
        self.path, self.before = root / "runs.db", snapshot(self.shop.repo)

    async def began(self, engine):
        return await (await engine.start(self.plan, self.inputs)).result()

    async def whole(self, turns):
        """To the end, without a death; every turn is told."""
        disk = Disk(self.journal, plot=lambda n, _: turns.append(n))
        async with Engine.open(self.path, journal=disk, **self.shop.settings()) as engine:
            assert (await self.began(engine)).status == "succeeded"

    async def dying(self, turn, what):
        """Die at a turn."""
        await dying(self.journal, turn, what, self.began, path=self.path, **self.shop.settings())

    async def resumed(self):
        """Go on in another process, to the end."""
        async with Engine.open(self.path, journal=Disk(self.journal), resume=True, **self.shop.settings()) as engine:
            for run in await self.journal.runs():
                result = await asyncio.wait_for(engine.run(run.id).result(), 60)
                assert result.status == "succeeded", result.failure
                await assert_replays(self.journal, run.id)

    async def ended(self):
        """How often each visit of a step has come to its end."""
        (run,) = await self.journal.runs()
        _, entries = await self.journal.load(run.id)
        facts = [decode(each.type, each.body) for each in entries]
        return Counter(
            (each.step, each.visit) for each in facts if isinstance(each, e.AttemptEnded) and each.deed == "do"
        )

    def tree(self):
        return git(self.shop.repo, "rev-parse", f"{BRANCH}^{{tree}}")

    def theirs(self):
        """What is another in what is the user's."""
        return [name for name in difference(self.before, snapshot(self.shop.repo)) if not is_ours(name)]


@pytest.mark.campaign("a death at each turn of each way of working", "I1 I2 I9 I12", of="deaths")
@pytest.mark.parametrize("way", WAYS)
def test_e10_dead_at_any_turn_a_way_comes_to_the_same_tree(tmp_path, way, trials):
    turns, whole = [], Scene(tmp_path / "whole", way)
    asyncio.run(whole.whole(turns))
    for turn in trials.among(range(2, max(turns) + 1), 2):
        scene = Scene(tmp_path / str(turn), way)
        asyncio.run(scene.dying(turn, ("lose", "keep")[trials.seed % 2]))
        assert scene.theirs() == []
        asyncio.run(scene.resumed())
        assert (scene.tree(), scene.theirs()) == (whole.tree(), [])
        assert max(asyncio.run(scene.ended()).values()) == 1
        shutil.rmtree(tmp_path / str(turn))
