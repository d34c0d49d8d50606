"""Two components on copies of a copy of a commit, in any process: what is in the repository before and after."""

import asyncio

from git_shop import files_of, git, history

from perdure import Engine, Plan

LINES = [f"line {n}\n" for n in range(9)]
CONTAINED = {"contained": True}
BRANCH = "refs/heads/built"
AFTER = "".join(["ONE\n", *LINES[1:8], "TWO\n"])


def part(name, old, new):
    """A component: a copy of its own, the same file, other lines."""
    steps = [
        {"id": f"open_{name}", "tool": "branch.open"},
        {"id": f"edit_{name}", "tool": "files.edit", "with": {"edits": [{"path": "f.txt", "old": old, "new": new}]}},
        {"id": f"new_{name}", "tool": "files.write", "with": {"path": f"{name}/n.txt", "text": name}},
    ]
    return {"id": name, "policy": CONTAINED, "steps": steps}


def after(name):
    branch = f"${{steps.open_{name}.output.branch}}"
    return [
        {"id": f"put_{name}", "tool": "branch.place", "with": {"branch": branch, "merge": True}},
        {"id": f"close_{name}", "tool": "branch.close", "with": {"branch": branch}},
    ]


WORK = [
    {"id": "open", "tool": "branch.open", "with": {"commit": "older"}},
    {"id": "parts", "parallel": [part("one", "line 0\n", "ONE\n"), part("two", "line 8\n", "TWO\n")]},
    *after("one"),
    *after("two"),
]
COPY = "${steps.open.output.branch}"
PLAN = Plan.model_validate({
    "steps": [
        {"id": "work", "policy": CONTAINED, "steps": WORK},
        {"id": "keep", "tool": "git.commit", "with": {"message": "Build", "copy": COPY, "branch": "built"}},
        {"id": "close", "tool": "branch.close", "with": {"branch": COPY}},
    ],
    "output": "${steps.keep.output}",
})  # fmt: skip


def settings(place):
    return {"workspace": place / "work", "tier": "none"}


def furnish(place, many=0):
    """A repository; so many files beside the others make a checkout take its time."""
    work = history(place / "work")
    git(work, "checkout", "-q", "older")
    (work / "f.txt").write_text("".join(LINES))
    (work / "many").mkdir()
    for n in range(many):
        (work / "many" / str(n)).write_text("x" * 1_000)
    git(work, "add", ".")
    git(work, "commit", "-qm", "The start of it")
    git(work, "checkout", "-q", "main")
    (work / "src/a.py").write_text("at work\n")
    return place


def theirs(place):
    """All that is the user's."""
    work = place / "work"
    refs = git(work, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return {
        "files": files_of(work),
        "refs": [each for each in refs if not each.startswith(BRANCH)],
        "index": (work / ".git/index").read_bytes(),
        "head": (work / ".git/HEAD").read_bytes(),
    }


def built(place):
    """What the branch has on top of where it began: a commit, and which files are others."""
    if not git(place / "work", "for-each-ref", BRANCH):
        return None
    count = git(place / "work", "rev-list", "--count", f"older..{BRANCH}")
    names = git(place / "work", "diff", "--name-only", "older", BRANCH).splitlines()
    return count, names, git(place / "work", "show", f"{BRANCH}:f.txt", strip=False)


DONE = ("1", ["f.txt", "one/n.txt", "two/n.txt"], AFTER)


def copies(place):
    home = place / "runs.db.hands/branches"
    return [each.name for each in home.iterdir() if each.is_dir() and each.suffix != ".closed"] if home.is_dir() else []


def work(place, started):
    """A process that goes on with what is there, or begins."""

    async def go():
        async with Engine.open(place / "runs.db", resume=True, **settings(place)) as engine:
            started.set()
            runs = await engine.journal.runs()
            await (engine.run(runs[0].id) if runs else await engine.start(PLAN)).result()

    asyncio.run(go())
