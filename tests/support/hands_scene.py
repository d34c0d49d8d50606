"""An engine with hands beside a repository with history: set up, let live, killed, and looked at."""

import json
import os
import shutil
import subprocess
import time
from collections import Counter

import unprivileged
from git_shop import git, history
from hands_victim import note
from servers import Server, saying
from snapshots import look, paths

from perdure.core import events as e
from perdure.journal.driver import connect
from perdure.journal.reader import Reader
from perdure.ports import Filter, NoJournal

EARLY = 0.2
"""How many are killed before they have opened the journal."""
KILLED = -9
NEVER = {"pay", "pay_again", "letter", "book"}
"""Steps that are not repeated, whatever happens."""


class Killer:
    """The process that forks engines and kills them."""

    def __init__(self, user):
        self.user = user
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = unprivileged.popen(user, "hands_victim.py", **pipes)

    def ask(self, what):
        self._process.stdin.write(f"{json.dumps(what)}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)


class Post:
    """A server that remembers what it was asked for, and does what has a key it knows only once."""

    def __init__(self, world):
        self.asked, self._world, self._known = [], world, set()
        self.server = Server(self._answer)
        self.port = self.server.port

    def _answer(self, wire, head, body):
        method, path, _ = head.split(" ", 2)
        key = self.server.headers_of(head).get("idempotency-key", "")
        self.asked.append((method, path, key))
        if method != "GET" and key not in self._known:
            self._known.add(key)
            note(self._world, ["sent", path.removeprefix("/"), key])
        time.sleep(0.01)
        saying(b"thanks")(wire, head, body)


class Scene:
    """A repository with history, what else it reaches, and an engine beside it."""

    def __init__(self, place, killer, origin, disk=None):
        place.mkdir()
        self.disk = disk(place) if disk else None
        self.place, self.killer = place, killer
        self.shop, self.world, self.state = place / "shop", place / "world", place / "runs.db.hands"
        self.world.touch()
        self.post = Post(self.world)
        self.plan, self.kills = None, 0
        shutil.copytree(origin, self.shop, symlinks=True, dirs_exist_ok=True)
        git(place, "init", "-q", "--bare", "origin")
        git(self.shop, "remote", "add", "origin", str(place / "origin"))
        if killer.user == "nobody":
            give_away(place)
        self.start = start_of(self.shop)

    def live(self, way="do", **when):
        """One process; whether it came to its end."""
        code = self.killer.ask({"place": str(self.place), "plan": self.plan, "way": way, **when})
        assert code in (0, KILLED), "nothing but we ends it"
        self.kills += code == KILLED
        return code == 0

    def live_and_die(self, draw, pace, way="do"):
        early = draw.random() < EARLY
        return self.live(way, seconds=draw.uniform(0, 0.15 if early else pace), early=early)

    def until_over(self, draw, pace, way="do"):
        """Each process has a little more time than the last: what dies too often at one deed is given up, and rightly."""
        while not self.live_and_die(draw, pace, way):
            assert self.facts(), "it can be read at any time"
            pace *= 1.1

    def facts(self):
        """What the journal says of the one run; verified as it is loaded."""
        reader, runs = self._read()
        return [e.decode(each.type, each.body) for run in runs for each in reader.load(run.id)[1]] or [None]

    def status(self):
        """How the one run is."""
        [run] = self._read()[1]
        return run.summary.status

    def _read(self):
        reader = Reader(self.place / "runs.db", connect)
        try:
            runs = reader.runs(Filter(), None, 10)
        except NoJournal:
            return reader, []
        assert len(runs) <= 1
        return reader, runs

    def remove(self):
        """Where there are many."""
        shutil.rmtree(self.place)

    def end(self):
        return next(each for each in reversed(self.facts()) if each.type == "run_ended")


def give_away(place):
    """To an ordinary user, who may then do with it what they like."""
    for each in (place, *place.rglob("*")):
        os.chown(each, unprivileged.NOBODY, unprivileged.NOBODY, follow_symlinks=False)


def furnish(shop):
    """A repository that has all sorts of files, and somebody at work in it."""
    history(shop)
    for name, text in {"docs/guide.md": "guide\n", "docs/run.sh": "#!/bin/sh\n", "notes.txt": "n\n"}.items():
        (shop / name).parent.mkdir(exist_ok=True)
        (shop / name).write_text(text)
    (shop / "docs/run.sh").chmod(0o750)
    (shop / "docs/link").symlink_to("guide.md")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "Add docs")
    git(shop, "branch", "spare", "HEAD~1")
    (shop / "old/box").mkdir(parents=True)
    (shop / "old/box").chmod(0o700)
    (shop / "old/gone.txt").write_text("untracked\n")
    (shop / "old/box/way").symlink_to("../gone.txt")
    (shop / "build.log").write_text("ignored\n")
    (shop / "x.log").write_text("ignored too\n")
    (shop / "staged.txt").write_text("staged\n")
    git(shop, "add", "staged.txt")
    return shop


# ------------------------------------------------------------------------------- what is compared


def tree_of(root, *, but=".git"):
    """Every name with its kind, mode and bytes."""
    return {str(path.relative_to(root)): look(path) for path in paths(root, but)}


def start_of(shop):
    """All that a rollback brings back."""
    refs = git(shop, "for-each-ref", "--format=%(refname) %(objectname) %(symref)")
    trees = git(shop, "worktree", "list", "--porcelain")
    return {**user_of(shop), **seen_of(shop), "refs": refs, "worktrees": trees}


def commits_of(shop):
    """Every ref by what can be reached from it; dates are not told, and with them the ids."""
    names = git(shop, "for-each-ref", "--format=%(refname)").split()
    kept = [name for name in names if name.startswith("refs/perdure/")]
    told = {name: git(shop, "log", "--topo-order", "--format=%T %an %s", name) for name in names if name not in kept}
    return told, sorted(git(shop, "log", "--format=%T %s", name) for name in kept)


def user_of(shop):
    """What is the user's own and no tool may touch."""
    return {
        "index": (shop / ".git/index").read_bytes(),
        "head": (shop / ".git/HEAD").read_bytes(),
        "config": (shop / ".git/config").read_bytes(),
        "stash": git(shop, "stash", "list"),
    }


def seen_of(shop):
    """The files, and how git sees them."""
    status = git(shop, "--no-optional-locks", "status", "--porcelain", "--ignored", "--untracked-files=all")
    return {"tree": tree_of(shop), "status": status}


def sound(shop):
    """How many objects of each type there are. No lock is left, and git finds no fault."""
    assert list((shop / ".git").rglob("*.lock")) == []
    fsck = git(shop, "fsck", "--full", "--strict")
    assert [line for line in fsck.splitlines() if not line.startswith("dangling")] == []
    return Counter(git(shop, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split())


def kept_in(state):
    """How many files of each sort the engine has left in its own place. The next command sweeps stages."""
    files = [path.relative_to(state) for path in state.rglob("*") if not path.is_dir()]
    plain = [path for path in files if path.parts[0] not in ("worktrees", "stages")]
    return Counter(
        "/".join(["*" if len(part) >= 32 else part for part in path.parts[:-1]]) + path.suffix for path in plain
    )


def outcome_of(scene):
    return {
        **seen_of(scene.shop),
        "commits": commits_of(scene.shop),
        "objects": sound(scene.shop),
        "pushed": commits_of(scene.place / "origin"),
        "state": kept_in(scene.state),
    }


def assert_each_before_or_after(now, start, wanted):
    """I9: whatever moment it was, each name holds one of the two, and no byte is in between."""
    for name, what in now.items():
        if not name.rpartition("/")[2].startswith(".perdure-"):
            assert what in (start.get(name), wanted.get(name)), name


def differences(one, other):
    return {name: (one[name], other[name]) for name in one if one[name] != other[name]}


def assert_nothing_over_began_again(facts):
    """No step that is over is begun again; one that cannot be repeated is begun again only after a person was asked."""
    over, lost = set(), set()
    for fact in facts:
        about = (getattr(fact, "step", ""), getattr(fact, "visit", 0))
        if fact.type == "attempt_started" and fact.deed == "do":
            assert about not in over, f"{about} was over"
            assert about not in lost, f"{about} was begun again, and nobody was asked"
        elif fact.type == "attempt_lost" and fact.step in NEVER:
            lost.add(about)
        elif fact.type == "question_answered":
            lost.clear()
        elif e.ends_step(fact):
            over.add(about)
