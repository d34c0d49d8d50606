"""A way of working on code, carried out on a small repository: real git, a real sandbox, and a model by a script."""

import asyncio
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path

from git_shop import git
from repositories.project import project
from snapshots import difference, snapshot

from perdure import Engine
from perdure.agents.reading import stock
from perdure.engine import history
from perdure.kits.coding.agents import agents
from perdure.kits.coding.framing import framed, templates
from perdure.kits.coding.report import is_told, report
from perdure.kits.coding.tools import TOOLS
from perdure.plan.index import Index
from perdure.ports import Answered, Said
from perdure.testing.models import ScriptedModel

BRANCH = "perdure/goal"
TEST = ["python3", "-m", "unittest"]
PATIENCE = 60
"""Seconds that a run has, before a test gives up."""


@cache
def plan_of(way):
    """The way in its frame."""
    return framed(templates()[way].plan)


def by_task(answers):
    """A script: by words of the task that a conversation began with, one answer for each of its turns; the first counts.

    An answer that is a function is given the request.
    """

    def said(request):
        told = told_in(request)
        turns = next((each for words, each in answers.items() if words in told), None)
        assert turns is not None, f"nobody has thought of this: {told[:300]}"
        turns = turns if isinstance(turns, list) else [turns]
        number = sum(isinstance(each, Answered) for each in request.remarks)
        answer = turns[min(number, len(turns) - 1)]
        return answer(request) if callable(answer) else answer

    return said


def told_in(request):
    """What a model was told first in a conversation: the task, what it is given, and what was done before."""
    return "\n".join(each.text for each in takewhile(lambda each: isinstance(each, Said), request.remarks))


@dataclass
class Workshop:
    """A repository, a journal beside it, and a model."""

    root: Path
    script: object
    usd: float | None = 0.0
    model: ScriptedModel = field(init=False)

    def __post_init__(self):
        self.repo = self.root / "project"
        if not self.repo.exists():
            project(self.repo)
        self.model = ScriptedModel(by_task(self.script) if isinstance(self.script, dict) else self.script, self.usd)

    def settings(self, **more):
        """How an engine is opened here."""
        means = {"tools": TOOLS, "agents": [*agents(), *stock()], "models": {"default": self.model}}
        return {"workspace": self.repo, "agent_planning": True, **means, **more}

    def carry(self, plan, answers=(), inputs=None, first=None, **settings):
        """Carry a plan out, or a way by its name, and answer what is asked of people, one after the other.

        `first` is done with the engine before.
        """
        return asyncio.run(self._carried(plan, answers, inputs, first, **settings))

    async def _carried(self, plan, answers, inputs, first, **settings):
        plan = plan_of(plan) if isinstance(plan, str) else plan
        given = {"goal": "Multiply", "branch": BRANCH, "test": TEST, **(inputs or {})}
        before = snapshot(self.repo)
        async with Engine.open(self.root / "runs.db", **self.settings(**settings)) as engine:
            if first:
                first(engine)
            run = await engine.start(plan, given)
            result = await asyncio.wait_for(self._answered(run, iter(answers)), PATIENCE)
            visits = await history(engine.journal, run.id, lambda _: True)
        return Outcome(self, plan, result, visits, before)

    async def _answered(self, run, answers):
        while (result := await run.rested()).status == "waiting":
            ((question, text),) = result.questions.items()
            answer = next(answers, None)
            assert answer, f"nobody was to be asked: {text}"
            await run.answer(question, answer)
        return result


class Outcome:
    """What became of it: the run, the report, the branch, and the repository."""

    def __init__(self, shop, plan, result, visits, before):
        self.plan, self.result, self.steps, self.visits = plan, result, result.steps, visits
        self.branch = result.inputs["branch"]
        self._before, self._shop = before, shop
        self.report = report(result, [each for each in visits if is_told(each.step)])
        self.asked = shop.model.asked[:]
        shop.model.asked.clear()

    def told(self, *words):
        """What models were told by whom had all these words in the task, in order."""
        return [told_in(each) for each in self.asked if all(word in told_in(each) for word in words)]

    def path(self, *names):
        """The visits of these steps, in the order in which they ended, each with its exit."""
        return [(each.step, each.exit) for each in self.visits if each.step in names]

    def log(self):
        """The commits of the branch, the oldest first: what each says."""
        said = git(self._shop.repo, "log", "--reverse", "--format=%B%x00", f"main..{self.branch}")
        return [each.strip() for each in said.split("\0") if each.strip()]

    def files(self):
        """What stands on the branch."""
        names = git(self._shop.repo, "ls-tree", "-r", "--name-only", "-z", self.branch, strip=False).split("\0")[:-1]
        return {each: git(self._shop.repo, "show", f"{self.branch}:{each}", strip=False) for each in names}

    def changed(self):
        """What the branch has otherwise than the user."""
        base = git(self._shop.repo, "ls-tree", "-r", "main").splitlines()
        now = git(self._shop.repo, "ls-tree", "-r", self.branch).splitlines()
        return {line.split("\t")[1] for line in set(base) ^ set(now)}

    def assert_kept(self):
        """It is done: there is one branch more, and of what was the user's nothing is another."""
        assert self.result.status == "succeeded", (self.result.cause, self.result.failure)
        self._assert_all_is_told()
        assert (self.report.branch, self.report.base) == (self.branch, git(self._shop.repo, "rev-parse", "main"))
        theirs = {name: how for name, how in self._changed().items() if not is_ours(name)}
        assert theirs == {}
        assert git(self._shop.repo, "--no-optional-locks", "status", "--porcelain") == ""
        assert self._copies() == []

    def assert_nothing_kept(self, *words):
        """It failed, the repository is byte for byte as it was, and the report says why, with these words."""
        assert self.result.status == "failed"
        self._assert_all_is_told()
        assert self._changed() == {}
        assert (self.report.branch, self.report.commits) == ("", ())
        assert all(word in self.report.failure for word in words), self.report.failure

    def _assert_all_is_told(self):
        """T12: every time that a model was asked is an attempt of a step of the plan, and no step is of anybody else."""
        assert self.result.usage.calls == len(self.asked)
        assert {each.step.partition("/")[0] for each in self.visits} <= {node.id for node in Index(self.plan).nodes}

    def _changed(self):
        return difference(self._before, snapshot(self._shop.repo))

    def _copies(self):
        return [each.parent.name for each in self._shop.root.glob("runs.db.hands/**/branches/*/workspace")]


def is_ours(name):
    """Whether it belongs to a branch that was made, and to nothing else."""
    parts = Path(name).parts
    inside = parts[1:2] in {("objects",), ("logs",)} or parts[1:4] == ("refs", "heads", "perdure")
    return parts[0] == ".git" and (inside or name in {".git", ".git/refs/heads", ".git/refs", ".git/objects"})
