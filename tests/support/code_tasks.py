"""A small goal done to a repository without any model: two files are written, and somebody else is at work meanwhile."""

import json

from git_shop import git

from perdure import Engine, Plan
from perdure.core.events import decode
from perdure.engine import history
from perdure.journal.memory import MemoryJournal
from perdure.kits.coding.framing import framed
from perdure.kits.coding.report import is_told, report
from perdure.kits.coding.tools import TOOLS
from perdure.testing.crashes import Disk

BRANCH = "perdure/task"
ADD = "def add(a, b):\n    return sum([a, b])\n\n\ndef subtract(a, b):\n    return a - b\n"
FILES = {"calc.py": ADD, "notes/why.txt": "It is clearer.\n"}
"""What is written, for a commit each."""
WRITE = [
    {"id": f"write{n}", "tool": "files.write", "with": {"path": path, "text": text}}
    for n, (path, text) in enumerate(FILES.items())
]
CHANGES = [{"title": f"Change {path}", "why": "It is better.", "files": [path]} for path in FILES]


def shape(steps=WRITE, changes=CHANGES):
    """A way of working that thinks nothing."""
    names = ("goal", "test", "report", "seconds", "before")
    output = {"summary": "Sum up", "changes": changes, "rest": "What is left"}
    return Plan.model_validate({"inputs": {name: {} for name in names}, "steps": steps, "output": output})


class Task:
    """The goal, done to a repository in this process; `then` is what others do when a certain step is over."""

    def __init__(self, root, state, steps=WRITE, **inputs):
        self.root, self.db, self.journal = root, state / "runs.db", MemoryJournal()
        self.plan = framed(shape(steps))
        self.inputs = {"goal": "Sum up", "branch": BRANCH, "test": [], **inputs}
        self.then = {}

    def opened(self, **more):
        disk = Disk(self.journal, plot=self._plot)
        return Engine.open(self.db, journal=disk, workspace=self.root, tools=TOOLS, **more)

    def _plot(self, _, turn):
        for entry in turn.entries:
            step = decode(entry.type, entry.body).step if entry.type == "attempt_ended" else ""
            if step in self.then:
                self.then.pop(step)()

    async def done(self):
        """To its end, or to a question: the report."""
        async with self.opened() as engine:
            return await self._told(await engine.start(self.plan, self.inputs))

    async def answered(self, value):
        """Answer what is asked, and go on."""
        async with self.opened(resume=True) as engine:
            [run] = [engine.run(each.id) for each in await self.journal.runs()]
            [question] = (await run.rested()).questions
            await run.answer(question, value)
            return await self._told(run)

    async def taken_back(self):
        """Roll the run back."""
        async with self.opened() as engine:
            [run] = [engine.run(each.id) for each in await self.journal.runs()]
            await run.rollback()
            return await self._told(run)

    async def _told(self, run):
        result = await run.rested()
        return report(result, await history(self.journal, run.id, is_told))


def commits(place, ref):
    """What stands on a branch, the first commit first, as titles."""
    return git(place, "log", "--reverse", "--format=%s", ref).splitlines()


def shown(place, ref, path):
    return git(place, "show", f"{ref}:{path}", strip=False)


def answers(files=None):
    """A script for `linear`: the files that somebody thought of."""
    written = {"multiply.py": "def multiply(a, b):\n    return a * b\n"} if files is None else files
    return {
        "Say what has to be done": {"summary": "Multiply", "files": [*written]},
        "Give the whole text": {"files": [{"path": path, "text": text} for path, text in written.items()]},
        "": "done",
    }


def script(place, said=None):
    """The same as a file, and the name of the model that plays by it."""
    place.write_text(json.dumps(answers() if said is None else said), encoding="utf-8")
    return f"script:{place}"
