"""E10 E18: killed at any point, a repository is sound, a ref is old or new, and going on gives the same ids."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from engine_victim import effects
from git_shop import Shop, git

from perdure.tools.branches.branch import name_of
from perdure.tools.git.desk import Desk

VICTIM = Path(__file__).parents[2] / "support" / "git_victim.py"
WRITING = (
    "write", "pwrite64", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat",
    "fsync", "fdatasync", "ftruncate", "rmdir", "chmod", "fchmod",
)  # fmt: skip
STRACE = shutil.which("strace", path="/usr/bin:/bin")
WRAPPER = """#!/bin/sh
# One git runs under strace; when it was killed, so is the process that started it: as a power cut.
case " $* " in *" {verb} "*) ;; *) exec /usr/bin/git "$@" ;; esac
strace -f -qq -o {root}/log {words} /usr/bin/git "$@"
code=$?
[ $code -lt 128 ] || kill -9 $PPID
exit $code
"""


def need_strace():
    if STRACE is None:
        if os.environ.get("CI") == "true":
            pytest.fail("strace is missing")
        pytest.skip("strace is missing")


class Victims:
    """Processes that are begun quickly, because one that has loaded everything forks them."""

    def __init__(self):
        words = [sys.executable, str(VICTIM)]
        self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, root, way, program="", seconds=120):
        """How a process ended; it is killed after some seconds."""
        asked = {"root": str(root), "way": way, "program": str(program), "seconds": seconds}
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def finish(self, root, way):
        assert self.run(root, way) == 0

    def under(self, root, way, verb, words):
        """Run with one git under strace; whether it was killed, and all with it."""
        path = root / "git"
        filled = {"{verb}": verb, "{words}": words, "{root}": str(root)}
        text = WRAPPER
        for name, value in filled.items():
            text = text.replace(name, value)
        path.write_text(text)
        path.chmod(0o755)
        return self.run(root, way, path) == -signal.SIGKILL


@pytest.fixture(scope="module")
def victims():
    made = Victims()
    yield made
    made.server.stdin.close()
    made.server.stdout.close()
    made.server.wait()


def assert_sound(shop):
    done = subprocess.run(
        ["/usr/bin/git", "fsck", "--full", "--strict"], cwd=shop.root, capture_output=True, check=False
    )
    text = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, text
    assert all(line.startswith("dangling ") for line in text.splitlines() if "notice" not in line), text


DEEDS = {
    "commit": [
        {
            "name": "git.commit",
            "with": {"message": "One"},
            "key": "k",
            "write": {"one.txt": "1\n", "new/file.txt": "new\n"},
        }
    ],
    "copy": [{"name": "git.commit", "with": {"message": "One", "copy": name_of("r_1", "work")}, "key": "k"}],
    "removal": [{"name": "git.branch", "with": {"name": "older", "delete": True}, "key": "k"}],
    "worktree": [{"name": "git.worktree", "with": {}, "key": "k"}],
}


def prepared(root, deeds):
    shop = Shop(root)
    if deeds is DEEDS["removal"]:
        shop.git("pack-refs", "--all")
    if deeds is DEEDS["copy"]:
        place = shop.copy(shop.open("work", commit="older")["branch"])
        (place / "new.txt").write_text("new\n")
        (place / "src/b.py").unlink()
    (root / "deeds.json").write_text(json.dumps(deeds))
    return shop


def put_back(shop, deeds):
    """Files that a victim wrote; no deed of ours."""
    for path in {shop.root / name for each in deeds for name in each.get("write", {})}:
        path.unlink(missing_ok=True)
        if path.parent != shop.root and path.parent.is_dir() and not list(path.parent.iterdir()):
            path.parent.rmdir()


VERBS = (
    "mktree", "read-tree", "hash-object", "update-index", "write-tree", "commit-tree", "pack-objects", "unpack-objects", "update-ref", "worktree",
)  # fmt: skip
FEW = {
    "commit": [
        ("unpack-objects", "rename", 1),
        ("unpack-objects", "link", 1),
        ("update-ref", "write", 2),
        ("update-ref", "rename", 1),
    ],
    "copy": [
        ("update-index", "write", 1),
        ("unpack-objects", "rename", 1),
        ("update-ref", "write", 2),
        ("update-ref", "rename", 1),
    ],
    "removal": [("update-ref", "unlink", 1), ("update-ref", "rename", 2)],
    "worktree": [("worktree", "write", 8)],
}


def points_of(victims, root, deeds):
    """Every system call that writes, of every git that writes: (which git, which call, how many of these before)."""
    found = []
    for verb in VERBS:
        place = root / f"look-{verb}"
        prepared(place, deeds)
        victims.under(place, "do", verb, f"-e trace={','.join(WRITING)}")
        if (place / "log").exists():
            lines = (place / "log").read_text().splitlines()
            calls = Counter(line.split(maxsplit=1)[1].partition("(")[0] for line in lines)
            found += [(verb, name, when) for name in calls if name in WRITING for when in range(1, calls[name] + 1)]
    assert len(found) > 20
    return found


@pytest.mark.campaign("a kill at each system call of git", "I2 I9", of="kills")
@pytest.mark.parametrize("name", DEEDS)
def test_killed_at_each_system_call_of_git(name, victims, tmp_path, trials):
    """R2, and R5: nothing stays in doubt."""
    need_strace()
    deeds = DEEDS[name]
    points = FEW[name] if trials.is_quick else points_of(victims, tmp_path, deeds)
    every = trials.among(points, len(FEW[name]))
    killed = [_killed_at(victims, tmp_path / str(trials.seed), deeds, point) for point in every]
    assert sum(killed) > len(points) // 2 or not trials.are_all


def _killed_at(victims, root, deeds, point):
    verb, name, when = point
    shop = prepared(root, deeds)
    before = shop.theirs()
    killed = victims.under(root, "do", verb, f"-e trace={name} -e inject={name}:signal=KILL:when={when}")
    if verb != "worktree":  # a worktree that git was making stands on nothing for a moment, and fsck minds
        assert_sound(shop)
    intent = Desk(shop.state / "git", "k").intent()
    assert shop.refs() == before["refs"] or intent, "a ref has moved and nobody knows why"
    victims.finish(root, "do")
    [entry] = effects(root / "journal")
    assert entry["failure"] is None, (point, entry)
    if intent and intent.updates:
        assert entry["output"]["after"] == (intent.updates[-1].new or None), "another commit than was intended"
    assert_sound(shop)
    victims.finish(root, "undo")
    put_back(shop, deeds)
    after = shop.theirs()
    assert {key for key in after if after[key] != before[key]} == set(), point
    assert not list((shop.root / ".git").rglob("*.lock")), point
    shutil.rmtree(root)
    return killed


@pytest.mark.campaign("the same, and another deed comes next", "I10", of="kills")
@pytest.mark.parametrize("name", ["commit", "removal"])
@pytest.mark.parametrize("way", ["do", "undo"])
def test_killed_at_each_system_call_of_git_nobody_is_locked_out(name, way, victims, tmp_path, trials):
    """What comes after the kill has nothing left to do, or another thing: the locks of the dead go all the same."""
    need_strace()
    deeds = DEEDS[name]
    few = [each for each in FEW[name] if each[0] == "update-ref"]
    points = few if trials.is_quick else points_of(victims, tmp_path, deeds)
    for verb, call, when in trials.among(points, len(few)):
        root = tmp_path / str(trials.seed)
        shop = prepared(root, deeds)
        before = shop.refs()
        victims.under(root, "do", verb, f"-e trace={call} -e inject={call}:signal=KILL:when={when}")
        victims.finish(root, way)
        assert not list((shop.root / ".git").rglob("*.lock")), (verb, call, when)
        assert way == "do" or shop.refs() == before
        assert_sound(shop)
        shutil.rmtree(root)


@pytest.mark.campaign("a kill at each system call of an engine that uses git", "I2 I9", of="kills")
def test_killed_at_each_system_call_of_the_engine(victims, tmp_path, trials):
    need_strace()
    points = [(name, when) for name in ("write", "rename", "fsync", "mkdir", "unlink") for when in range(1, 40)]
    killed = 0
    few = [("rename", 1), ("fsync", 4)]
    for name, when in trials.among(few if trials.is_quick else points, len(few)):
        root = tmp_path / str(trials.seed)
        shop = prepared(root, DEEDS["commit"])
        words = [
            STRACE,
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            f"trace={name}",
            "-e",
            f"inject={name}:signal=KILL:when={when}",
        ]
        done = subprocess.run([*words, sys.executable, str(VICTIM), str(root), "do"], capture_output=True, check=False)
        killed += done.returncode != 0
        assert_sound(shop)
        intent = Desk(shop.state / "git", "k").intent()
        victims.finish(root, "do")
        if intent:
            assert shop.git("rev-parse", "perdure/r_1") == intent.updates[0].new
        assert_sound(shop)
        shutil.rmtree(root)
    assert killed > 0 or not trials.are_all


# ------------------------------------------------------------------------------- any deeds, any moment


def some_deeds(chance, count):
    """Random deeds; some of them cannot succeed, as it is in life."""
    names = ["one", "two/x", "three"]
    kinds = [
        lambda n: {
            "name": "git.commit",
            "with": {"message": f"Commit {n}"},
            "write": {f"f{chance.randrange(4)}.txt": f"{n}\n"},
        },
        lambda n: {
            "name": "git.commit",
            "with": {"message": f"Commit {n}", "branch": chance.choice(names)},
            "write": {f"d/{n}.txt": "x"},
        },
        lambda n: {
            "name": "git.branch",
            "with": {"name": chance.choice(names), "start": chance.choice(["main", "older", "v1"])},
        },
        lambda n: {"name": "git.branch", "with": {"name": chance.choice([*names, "older"]), "delete": True}},
        lambda n: {"name": "git.tag", "with": {"name": chance.choice(names), "message": chance.choice(["", "said"])}},
        lambda n: {"name": "git.tag", "with": {"name": chance.choice([*names, "v1"]), "delete": True}},
        lambda n: {
            "name": "git.merge",
            "with": {"source": chance.choice(["main", *names]), "into": chance.choice(names)},
        },
        lambda n: {"name": "git.worktree", "with": {}},
    ]
    return [{**chance.choice(kinds)(n), "key": f"k{n}"} for n in range(count)]


def killed_by_chance(victims, root, way, chance, kills):
    """Let it work, kill it, let it go on; as often as wanted, then to the end."""
    for _ in range(kills):
        victims.run(root, way, seconds=chance.random() * 0.8)
    victims.finish(root, way)


@pytest.mark.campaign("deeds with git by lot, killed and taken back", "R6 I9", of="kills", times=4)
def test_whatever_was_done_and_wherever_it_was_killed_rolling_back_leads_to_the_start(victims, tmp_path, trials):
    """R6"""
    for seed, root in trials.places(tmp_path, 2):
        chance = random.Random(seed)
        shop = Shop(root)
        shop.write("ignored.log", "x")
        shop.git("pack-refs", "--all")
        start = shop.theirs()
        deeds = some_deeds(chance, 6 if trials.is_quick else 30)
        (root / "deeds.json").write_text(json.dumps(deeds))
        killed_by_chance(victims, root, "do", chance, 2)
        assert_sound(shop)
        entries = effects(root / "journal")
        assert [each for each in entries if not each["failure"]]
        killed_by_chance(victims, root, "undo", chance, 2)
        put_back(shop, deeds)
        after = shop.theirs()
        assert {key for key in after if after[key] != start[key]} == set(), f"seed {seed}"
        assert git(shop.root, "worktree", "list").count("\n") == 0
        assert_sound(shop)


def test_a_rollback_in_the_middle_of_a_deed_leads_to_the_start(victims, tmp_path):
    for n in range(3):
        root = tmp_path / str(n)
        shop = prepared(root, DEEDS["commit"])
        start = shop.refs()
        victims.run(root, "do", seconds=0.1 * n)
        time.sleep(0.3)  # what it had started may still be at work
        victims.finish(root, "undo")
        assert shop.refs() == start
