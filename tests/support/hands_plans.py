"""Plans that use the hands: one with every tool there is, and sequences that are drawn by lot."""

BRANCH = "perdure/work"
SCRIPT = """
set -e
mkdir -p out/deep
for n in $(seq 12); do echo "$n" >> out/f$n; done
printf more >> src/a.py
ln -s ../src/a.py out/deep/link
chmod 755 out/f3
rm -r old/gone.txt
setsid sleep 300 >/dev/null 2>&1 &
sleep 0.05
"""
CODE = """
import pathlib
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/report.txt").write_text("of %d" % inputs["n"])
pathlib.Path("src/b.py").rename("src/bee.py")
result = sorted(each.name for each in pathlib.Path("out").iterdir())
"""
PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-a = 3
+a = 4
*** Delete File: notes.txt
*** Add File: lib/deep/new.txt
+new
*** End Patch
"""


def call(id_, tool, /, **arguments):
    return {"id": id_, "tool": tool, "with": arguments}


def with_every_tool(port):
    """What an engine with hands can do, in one plan. Files, commands and git come one after the other."""
    base = f"http://127.0.0.1:{port}"
    return {
        "steps": [
            call("write", "files.write", path="src/tool.sh", text="#!/bin/sh\n", executable=True),
            {
                "id": "outside",
                "parallel": [
                    call("pay", "kill.pay", amount=3),
                    call("order", "http.request", method="POST", url=f"{base}/order", json={"n": 1}, idempotent=True),
                    call("put", "http.request", method="PUT", url=f"{base}/put", body="x"),
                    call("letter", "http.request", method="POST", url=f"{base}/letter", body="x"),
                    call("book", "books.note", step="book"),
                    call("get", "http.get", url=f"{base}/get"),
                    call("edit", "files.edit", edits=[
                        {"path": "src/a.py", "old": "a = 2", "new": "a = 3"},
                        {"path": "README.md", "old": "# shop", "new": "# SHOP"},
                    ]),
                ],
            },
            call("patch", "files.patch", patch=PATCH),
            call("move", "files.move", moves=[{"path": "docs", "to": "manual/all"}]),
            call("delete", "files.delete", paths=["old/box", "build.log"]),
            {
                "id": "look",
                "parallel": [
                    call("read", "files.read", path="README.md"),
                    call("list", "files.list"),
                    call("search", "files.search", text="SHOP"),
                    call("status", "git.status"),
                    call("diff", "git.diff"),
                    call("log", "git.log"),
                    call("show", "git.show"),
                ],
            },
            call("run", "shell.run", command=SCRIPT),
            call("commit", "git.commit", message="First", branch=BRANCH),
            call("code", "python.run", code=CODE, inputs={"n": 12}),
            call("again", "git.commit", message="Second", branch=BRANCH, paths=["src", "out"]),
            call("tag", "git.tag", name="v2", target=BRANCH, message="Two"),
            call("branch", "git.branch", name="side", start="older"),
            call("merge", "git.merge", source=BRANCH, into="older", forward=False),
            call("drop", "git.branch", name="spare", delete=True),
            call("untag", "git.tag", name="v1", delete=True),
            call("tree", "git.worktree", start=BRANCH),
            call("pay_again", "kill.pay", amount=4),
        ]
    }  # fmt: skip


PIECES = {
    "change": [call("patch", "files.patch", patch=PATCH.replace("a = 3", "a = 2"))],
    "stage": [call("run", "shell.run", command=SCRIPT)],
    "code": [call("code", "python.run", code=CODE, inputs={"n": 12})],
    "commit": [call("commit", "git.commit", message="First", branch=BRANCH)],
}
"""Deeds whose every system call is tried."""
COPY = "${steps.one.output.branch}"
ON_A_COPY = {
    "id": "one",
    "policy": {"contained": True},
    "plan": {
        "steps": [call("open", "branch.open"), call("put", "files.patch", patch=PATCH.replace("a = 3", "a = 2"))],
        "output": "${steps.open.output}",
    },
}
BRANCHES = {
    "branch": [ON_A_COPY, call("place", "branch.place", branch=COPY), call("close", "branch.close", branch=COPY)],
}
"""Work on a copy of the workspace: opened, changed, placed and closed."""


def opaque(step, port):
    """A deed that nobody can call back, nor ask about."""
    deeds = {
        "pay": call("pay", "kill.pay", amount=3),
        "letter": call("letter", "http.request", method="POST", url=f"http://127.0.0.1:{port}/letter", body="x"),
        "book": call("book", "books.note", step="book"),
    }
    return [deeds[step]]


def gated(steps):
    """The same, with a gate before them, and one behind for those who come back."""
    return {"steps": [call("begin", "kill.gate"), *steps, call("end", "kill.gate")]}


def with_a_push(plan):
    """The same, and what it made leaves the machine's repository."""
    return {"steps": [*plan["steps"], call("push", "git.push", branch=BRANCH)]}


def by_lot(draw, length):
    """A sequence of edits, moves, deletes, commands and commits that fit each other."""
    world = _World(draw)
    return {"steps": [world.step(f"s{n}") for n in range(length)]}


class _World:
    """What there will be when the steps so far were carried out."""

    def __init__(self, draw):
        self.draw = draw
        self.files = {"README.md", "src/a.py", "src/b.py", "docs/guide.md", "notes.txt", "old/gone.txt"}
        self.kept = {"src/a.py"}
        """Those that every sequence leaves where they are, to be edited."""
        self.number = 0
        self.links = set()
        """Files that are moved and deleted like others, and not written."""
        self.labels = ["spare"]
        self.committed = False
        self.says = "a = 2"

    def step(self, id_):
        self.number += 1
        return getattr(self, self.draw.choice(self._ways()))(id_)

    def _ways(self):
        ways = ["write", "write", "edit", "edit", "patch", "run", "code", "commit", "commit", "label"]
        ways += ["move", "delete"] * bool(self.files - self.kept) + ["drop"] * bool(self.labels)
        return ways + ["merge"] * self.committed

    def _one(self, *, plain=False):
        return self.draw.choice(sorted(self.files - self.kept - (self.links if plain else set())))

    def _new(self):
        place = self.draw.choice(["", "src/", "deep/er/", "docs/"])
        self.files.add(name := f"{place}n{self.number}")
        return name

    def write(self, id_):
        is_new = not self.files - self.kept - self.links or self.draw.random() < 0.5
        path = self._new() if is_new else self._one(plain=True)
        runs = self.draw.choice([True, False, None])
        text = "".join(f"{self.draw.random()}\n" for _ in range(self.draw.randrange(5)))
        return call(id_, "files.write", path=path, text=text, executable=runs)

    def _says(self):
        was, self.says = self.says, f"a = 'n{self.number}'"
        return was

    def edit(self, id_):
        return call(id_, "files.edit", edits=[{"path": "src/a.py", "old": self._says(), "new": self.says}])

    def patch(self, id_):
        lines = f"*** Update File: src/a.py\n@@\n-{self._says()}\n+{self.says}\n*** Add File: {self._new()}\n+x\n"
        return call(id_, "files.patch", patch=f"*** Begin Patch\n{lines}*** End Patch\n")

    def move(self, id_):
        path = self._one()
        self.files.remove(path)
        to = self._new()
        self.links |= {to} if path in self.links else set()
        return call(id_, "files.move", moves=[{"path": path, "to": to}])

    def delete(self, id_):
        path = self._one()
        self.files.remove(path)
        return call(id_, "files.delete", paths=[path])

    def run(self, id_):
        n = self.number
        self.files |= {f"r{n}/file", f"r{n}/link"}
        self.links.add(f"r{n}/link")
        made = (
            f"mkdir r{n}; echo {n} > r{n}/file; ln -s file r{n}/link; chmod 750 r{n}/file; rm -f x.log; echo > y{n}.log"
        )
        return call(id_, "shell.run", command=made)

    def code(self, id_):
        self.files.add(name := f"c{self.number}")
        return call(id_, "python.run", code=f"open({name!r}, 'w').write('x' * 9999)")

    def commit(self, id_):
        self.committed = True
        return call(id_, "git.commit", message=f"Number {self.number}", branch=BRANCH)

    def label(self, id_):
        self.labels.append(name := f"l{self.number}")
        return call(id_, "git.branch", name=name, start=BRANCH if self.committed else "HEAD")

    def drop(self, id_):
        return call(id_, "git.branch", name=self.labels.pop(), delete=True)

    def merge(self, id_):
        return call(id_, "git.merge", source=BRANCH, into="older", forward=False)
