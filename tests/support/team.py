"""Goals for repositories, carried out for real but for the model, which plays by what was written down for each task."""

import asyncio
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from git_shop import git
from repositories.project import commit
from snapshots import difference, snapshot

from perdure import Engine, Plan
from perdure.agents.reading import stock
from perdure.core.events import decode
from perdure.engine import Result, history
from perdure.kits.coding.agents import agents
from perdure.kits.coding.framing import framed, templates
from perdure.kits.coding.report import Report, is_told, report
from perdure.kits.coding.tools import TOOLS
from perdure.ports import Answer, Answered, Returned, Said, Wish
from perdure.testing.models import ScriptedModel
from perdure.testing.replays import assert_replays

BRANCH = "perdure/work"
UNITTEST = ("python3", "-m", "unittest", "discover")
LONGEST = 120
"""Seconds that a run may take on a busy machine."""


class Team:
    """What is answered to a task, by words of it: those that come first in the task count, the longest of these.

    An answer is what is said at once, or a list with what is said turn by turn. Somebody who has called tools, and of whom
    nothing more is written down, is done then.
    """

    def __init__(self, script, meet=()):
        self.script, self.asked, self.tasks, self.heard = script, Counter(), [], []
        self._doors = {words: asyncio.Barrier(many) for words, many in dict(meet).items()}

    async def met(self, request):
        """Wait until so many are at work on a task with these words, and all have done their first deed."""
        task, turn = _task(request), _turn(request)
        for words, door in self._doors.items():
            if words in task and turn == 1:
                await asyncio.wait_for(door.wait(), LONGEST / 2)

    def __call__(self, request):
        task, turn = _task(request), _turn(request)
        found = [(task.index(each), -len(each), each) for each in self.script if each in task]
        assert found, f"nobody has written down what to say to:\n{task}"
        words = min(found)[-1]
        self.heard += [each.text for each in request.remarks[-1:] if isinstance(each, Returned)]
        if turn == 0:
            self.asked[words] += 1
            self.tasks.append(task)
        return self._answer(words, turn, request)

    def _answer(self, words, turn, request):
        written = self.script[words]
        if callable(written):
            written = written(request)
        if isinstance(written, Times):
            written = written[min(self.asked[words], len(written)) - 1]
        turns = written if isinstance(written, list) else [written]
        return turns[turn] if turn < len(turns) else "It is done as the task says."


def _task(request):
    return next(each.text for each in request.remarks if isinstance(each, Said))


def _turn(request):
    return sum(isinstance(each, Answered) for each in request.remarks)


class Model(ScriptedModel):
    """Plays all of a team."""

    def __init__(self, team):
        super().__init__(team)
        self._team = team

    async def ask(self, request, heard):
        await self._team.met(request)
        return await super().ask(request, heard)


class Times(tuple):
    """One answer for each time that the task is given."""

    __slots__ = ()


def times(*answers):
    return Times(answers)


def writing(files):
    """An answer that writes whole files."""
    wishes = [Wish("files.write", {"path": path, "text": text}) for path, text in files.items()]
    return Answer(wishes=tuple(wishes), finish="calls")


def edits(path, old, new):
    return calling("files.edit", edits=[{"path": path, "old": old, "new": new}])


def calling(tool, **arguments):
    return Answer(wishes=(Wish(tool, arguments),), finish="calls")


def change(title, *files, why="It belongs to the goal."):
    """A change as planners name it; whoever makes it is known by its title."""
    return {"title": title, "why": why, "task": f"Do this: {title}", "files": list(files)}


def plan_of(*changes, summary="All of it is there"):
    return {"summary": summary, "changes": list(changes)}


@dataclass(kw_only=True)
class Work:
    """What became of a goal."""

    root: Path
    result: Result
    report: Report
    team: Team
    facts: list[Any] = field(repr=False)
    touched: dict[str, str]
    """What is another in the user's files and index."""
    state: dict[str, str]
    """What is another in all of the repository, `.git` included."""
    questions: list[str] = field(default_factory=list)

    @property
    def commits(self):
        """The titles of what is on the branch, oldest first."""
        return git(self.root, "log", "--reverse", "--format=%s", f"main..{BRANCH}").splitlines()

    def files(self, rev=BRANCH):
        return git(self.root, "ls-tree", "-r", "--name-only", rev).splitlines()

    def text(self, path, rev=BRANCH):
        return git(self.root, "show", f"{rev}:{path}", strip=False)

    def tested(self):
        """What the tests of the branch say to somebody who has cloned it."""
        place = self.root.with_name("clone")
        git(self.root, "clone", "-q", "--branch", BRANCH, str(self.root), str(place))
        done = subprocess.run(UNITTEST, cwd=place, capture_output=True, text=True, check=False, timeout=LONGEST)
        assert done.returncode == 0, done.stderr
        return done.stderr


def repository(place, files):
    """A repository with one commit of some files."""
    place.mkdir(parents=True)
    git(place, "init", "-q", "-b", "main", "--template=")
    commit(place, "Begin", files)
    return place


def shaped(name, **more):
    """A way of working in its frame, with some words of the plan said otherwise."""
    return Plan.model_validate({**framed(templates()[name].plan).canonical(), **more})


def carry_out(root, plan, script, *, answers=(), meet=(), **inputs):
    """Have a goal done, answer what people are asked, and look at what became of it."""
    return asyncio.run(_carried_out(root, plan, Team(script, meet), list(answers), inputs))


async def _carried_out(root, plan, team, answers, inputs):
    before, given = snapshot(root), {"goal": "Reach the goal", "branch": BRANCH, "test": list(UNITTEST), **inputs}
    settings = {"tools": TOOLS, "agents": [*agents(), *stock()], "models": {"default": Model(team)}}
    async with Engine.open(root.with_name("runs.db"), workspace=root, agent_planning=True, **settings) as engine:
        run = await engine.start(plan, given)
        asked = await asyncio.wait_for(_answered(run, answers), LONGEST)
        result, (_, entries) = await engine.result(run.id), await engine.journal.load(run.id)
        await assert_replays(engine.journal, run.id)
        told = report(result, await history(engine.journal, run.id, is_told))
    state = difference(before, snapshot(root))
    touched = {name: what for name, what in state.items() if _is_theirs(name)}
    return Work(
        root=root, result=result, report=told, team=team, facts=entries, touched=touched, state=state, questions=asked
    )


def _is_theirs(name):
    """Files, index, HEAD, config and branches that are not ours."""
    return not name.startswith((".git/objects", ".git/logs", ".git/refs/heads/perdure")) and name not in SHARED


SHARED = {".git", ".git/refs", ".git/refs/heads"}
"""Directories that a new branch is noticed in."""


async def _answered(run, answers):
    """The questions that were asked, each with its answer; one more than there are answers is a mistake."""
    asked = []
    while (result := await run.rested()).status == "waiting":
        [(question, text)] = result.questions.items()
        assert answers, f"nobody has an answer to: {text}"
        asked.append(text)
        await run.answer(question, answers.pop(0))
    assert not answers, f"nobody has asked for: {answers}"
    return asked


def live_at_once(facts, prefix):
    """The most items of a map that had attempts under way between their first and their last one, at one moment."""
    spans = {}
    for number, fact in enumerate(facts):
        step = getattr(decode(fact.type, fact.body), "step", "") or ""
        if step.startswith(prefix):
            item = step.removeprefix(prefix).partition("]")[0]
            spans.setdefault(item, [number, number])[1] = number
    return max(sum(first <= moment <= last for first, last in spans.values()) for moment, _ in spans.values())
