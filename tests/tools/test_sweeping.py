"""What hands keep goes with the runs it was kept for, and nothing else does."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter

import msgspec
import pytest
from changes_world import Folder, context_of, hands_at

from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools.branches.branch import recorded
from perdure.tools.branches.opening import opened
from perdure.tools.builtin.files import write
from perdure.tools.changes import ChangeSet, Images, take_back
from perdure.tools.changes.intents import Intents, set_of
from perdure.tools.context import Context
from perdure.tools.remaining import Remaining
from perdure.tools.sandbox.finding import Findings, Found
from perdure.tools.sweeping import foreseen, sweep

LATER = 3_600
SWEEP = """
import asyncio, sys, time
from pathlib import Path
from perdure.tools.remaining import Remaining
from perdure.tools.sweeping import sweep
print(asyncio.run(sweep(Path(sys.argv[1]), "none", Remaining(frozenset(["r_2"]), time.time() + 60))))
"""


@pytest.fixture
def hands(tmp_path):
    return hands_at(tmp_path)


@pytest.fixture
def workspace(hands):
    return Folder(hands.workspace)


def do(hands, run, path, text, key=None):
    """One step of a run, and what it gave."""
    return write.function(path, context_of(hands, key or f"{run} {path}", run=run), text=text)


def undo(hands, run, path, output):
    return take_back(context_of(hands, f"undo {run} {path}", run=run), output)


def swept(hands, *runs, since=0.0, before=None):
    left = Remaining(frozenset(runs), time.time() + LATER if before is None else before, since)
    told = foreseen(hands.state, left)
    done = asyncio.run(sweep(hands.state, "none", left))
    assert (done.size, done.left) == (told, ()), "what was foretold is what goes"
    assert foreseen(hands.state, left) == 0
    return done.size


def holds(hands, text):
    """Whether some bytes are anywhere in the engine's own place."""
    return any(text in each.read_bytes() for each in hands.state.rglob("*") if each.is_file())


def test_what_two_runs_share_stays_until_both_are_gone(hands, workspace):
    workspace.write(a="shared before", b="shared before")
    do(hands, "r_1", "a", "only of the first")
    second = do(hands, "r_2", "b", "of the second")
    assert swept(hands, "r_1", "r_2") == 0
    assert swept(hands, "r_2") > 0
    assert not holds(hands, b"only of the first")
    assert swept(hands, "r_2") == 0
    undo(hands, "r_2", "b", second)
    assert (workspace["a"], workspace["b"]) == (b"only of the first", b"shared before")
    assert swept(hands) > 0
    assert not holds(hands, b"shared before")
    assert list((hands.state / "changes/intents").iterdir()) == []


def test_what_was_begun_and_taken_back_goes_with_its_run(hands, workspace):
    workspace.write(a="one")
    output = do(hands, "r_1", "a", "two")
    undo(hands, "r_1", "a", output)
    do(hands, "r_1", "c", "made and refused")
    assert len(list((hands.state / "changes/intents").iterdir())) == 3
    swept(hands)
    assert [each for each in hands.state.rglob("*") if each.is_file()] == [hands.state / "changes/lock"]


def test_what_a_command_has_found_stays_while_its_run_can_go_on(hands):
    """A person may take longer than a month to agree."""
    for run in ("r_1", "r_2"):
        digest = Images(hands.state).put(run.encode() * 10)
        change = {"path": "a", "before": None, "after": {"kind": "file", "digest": digest, "mode": 420, "size": 30}}
        Findings(hands.state, run).put(Found({"stdout": run}, msgspec.convert({"changes": [change]}, ChangeSet), run))
    old = time.time() - 90 * 86_400
    for each in (hands.state / "found").iterdir():
        os.utime(each, (old, old))
    swept(hands, "r_2")
    assert Findings(hands.state, "r_1").get() is None
    found = Findings(hands.state, "r_2").get()
    assert found.output == {"stdout": "r_2"}
    assert Images(hands.state).read(found.changes.changes[0].after.digest) == b"r_2" * 10
    assert not holds(hands, b"r_1")


def test_what_is_younger_stays_whoever_it_belongs_to(hands, workspace):
    """A journal that was moved away for a moment, or another one in its place, must not cost anything young."""
    workspace.write(a="one")
    output = do(hands, "r_1", "a", "two")
    Images(hands.state).put(b"named by nobody yet")
    assert swept(hands, before=time.time() - LATER) == 0
    assert holds(hands, b"named by nobody yet")
    undo(hands, "r_1", "a", output)
    assert workspace["a"] == b"one"


def test_records_of_earlier_releases_stay_while_a_run_may_need_them(hands, workspace):
    workspace.write(a="one")
    output = do(hands, "r_1", "a", "two")
    path = hands.state / "changes/intents" / f"{set_of('r_1 a')}.json"
    path.write_bytes(path.read_bytes().replace(b',"run":"r_1"', b""))
    assert Intents(hands.state).get(path.stem).run == ""
    written = path.stat().st_mtime
    assert swept(hands, "r_9", since=written - 1) == 0, "r_9 was there already, so it may be its own"
    assert undo(hands, "r_1", "a", output)
    assert swept(hands, "r_9", since=time.time() + 1) > 0
    assert not path.exists()


def test_a_record_that_cannot_be_read_keeps_all_bytes(hands, workspace):
    workspace.write(a="one")
    do(hands, "r_1", "a", "two")
    (hands.state / "changes/intents/broken.json").write_text("{")
    swept(hands, "r_2", since=0)
    assert holds(hands, b"one")
    assert not (hands.state / "changes/intents" / f"{set_of('r_1 a')}.json").exists()
    swept(hands, "r_2", since=time.time() + 1)
    assert not holds(hands, b"one")


def test_what_crashes_left_goes(hands):
    dead = hands.state / "stages" / "0123456789abcdef"
    dead.mkdir(parents=True)
    dead.chmod(0o700)
    drafts = ("stages/0123456789abcdef/file", "changes/objects/new-1-1", "changes/intents/a.json.new", "found/a.json.new",
              "git/seen/a.new", "sandbox.7.new")  # fmt: skip
    for each in drafts:
        (hands.state / each).parent.mkdir(parents=True, exist_ok=True)
        (hands.state / each).write_text("secret")
    (hands.state / "sandbox.json").write_text("{}")
    assert swept(hands, "r_1") == 6 * len(drafts)
    assert not holds(hands, b"secret")
    assert (hands.state / "sandbox.json").exists()


def test_where_there_is_nothing_nothing_is_made(tmp_path):
    hands = hands_at(tmp_path)
    hands.state.rmdir()
    assert (swept(hands), hands.state.exists()) == (0, False)


def test_bytes_that_are_kept_again_meanwhile_stay(hands):
    """Somebody keeps the same bytes after they were found to be needed by nobody."""
    images = Images(hands.state)
    images.put(b"again")
    before = time.time() + 1
    [path] = images.others(set(), before)
    os.utime(path, (1, 1))
    [path] = images.others(set(), before - LATER)
    images.put(b"again")
    assert images.drop(path, before - LATER) == 0
    assert images.drop(path, before) == len(b"again")


@pytest.mark.campaign("a kill at each removal of a sweep", "R12", of="kills")
def test_killed_at_any_moment_the_next_sweep_finishes(tmp_path, trials):
    """Killed at the nth removal: what the other run needs is there, and nothing of the first one after the next."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.fail("strace is not installed (apt install strace)") if os.environ.get("CI") == "true" else pytest.skip()
    whole = hands_at(tmp_path / "whole")
    outputs = furnished(whole)
    points = [(kind, n) for kind, most in counted(strace, whole).items() for n in range(1, most + 1)]
    assert len(points) > 8
    for kind, n in trials.among(points, len(points) // 3 + 1):
        place = tmp_path / f"{kind}-{n}"
        shutil.copytree(tmp_path / "start", place, symlinks=True)
        hands = hands_at(place)
        code = traced(strace, hands, f"-einject={kind}:signal=KILL:when={n}").returncode
        assert code != 0, (kind, n)
        assert subprocess.run([sys.executable, "-c", SWEEP, str(hands.state)], check=False).returncode == 0
        assert not holds(hands, b"first"), (kind, n)
        for name, output in outputs.items():
            undo(hands, "r_2", name, output)
            assert (hands.workspace / name).read_text() == f"shared {name}", (kind, n)


def furnished(hands):
    """Two runs that share what was there before, and a stage that a crash has left."""
    for name in ("a", "b", "c"):
        (hands.workspace / name).write_text(f"shared {name}")
        (hands.workspace / f"{name}.1").write_text(f"shared {name}")
        do(hands, "r_1", f"{name}.1", f"first {name}")
    outputs = {name: do(hands, "r_2", name, f"second {name}") for name in ("a", "b", "c")}
    stage = hands.state / "stages" / "0123456789abcdef"
    (stage / "upper" / "d").mkdir(parents=True)
    stage.chmod(0o700)
    (stage / "upper" / "d" / "file").write_text("first")
    shutil.copytree(hands.state.parent, hands.state.parent.with_name("start"), symlinks=True)
    return outputs


def traced(strace, hands, *options):
    words = [strace, "-f", "-qq", "-e", "trace=unlink,rmdir,rename", *options, sys.executable, "-B", "-c", SWEEP]
    return subprocess.run([*words, str(hands.state)], capture_output=True, text=True, check=False, timeout=120)


def counted(strace, hands):
    done = traced(strace, hands)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not holds(hands, b"first")
    return Counter(re.findall(r"\b(unlink|rmdir|rename)\(", done.stderr))


def test_branches_go_with_their_run_and_what_was_never_finished_goes_too(hands, workspace):
    workspace["a.txt"] = "a"
    for run in ("r_1", "r_2"):
        call = Call("tool", "branch.open", {})
        attempt = Attempt(run, "open", 1, 1, f"key of {run}", call, contained=("go/1.2",))
        opened(Context(attempt, hands=hands), "")
    home = hands.state / "branches"
    (home / ("0" * 32 + ".new")).mkdir()
    (home / ("1" * 32 + ".gone")).mkdir()
    assert swept(hands, "r_1", "r_2", before=0.0) == 0, "what is young stays, whoever it belongs to"
    assert len(list(home.glob("*/"))) == 4
    assert swept(hands, "r_2") > 0
    assert [recorded(each).run for each in home.glob("*/")] == ["r_2"]
