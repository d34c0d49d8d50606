"""Stages: what a command leaves behind becomes a change set, and nothing else of it is real."""

import asyncio
import os
import random
import shutil
import stat
import subprocess
from dataclasses import replace

import pytest
import small_disks

from perdure.tools.changes import Images
from perdure.tools.failure import ToolFailure
from perdure.tools.sandbox import Command, Limits, run
from perdure.tools.sandbox.errors import StageFailed
from perdure.tools.sandbox.layer import left_on
from perdure.tools.sandbox.stage import staged
from perdure.tools.scratch import sweep

KINDS = ["overlay", "copy"]


async def left(hands, kind, script, **more):
    with staged(hands.state, hands.workspace, kind) as stage:
        ran = await run(stage.command(Command(["bash", "-ec", script], **more)))
        assert ran.code == 0, ran.stderr
        return left_on(stage, Images(hands.state))


def told(found):
    return {
        each.path: (
            each.before and (each.before.kind, each.before.size),
            each.after and (each.after.kind, each.after.size),
        )
        for each in found.changes.changes
    }


def tree(top):
    return {
        str(each.relative_to(top)): (
            stat.S_IFMT(each.lstat().st_mode),
            stat.S_IMODE(each.lstat().st_mode),
            _content(each),
        )
        for each in sorted(top.rglob("*"))
    }


def _content(path):
    return str(path.readlink()) if path.is_symlink() else None if path.is_dir() else path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
async def test_what_changed_is_found_and_nothing_is_real(hands, kind):
    before = tree(hands.workspace)
    script = "echo 2 >> a.txt; rm -r src; mkdir -p new/deep; echo x > new/deep/f; ln -s a.txt l; chmod 600 a.txt"
    found = await left(hands, kind, script)
    assert told(found) == {
        "a.txt": (("file", 4), ("file", 6)),
        "src": (("directory", 0), None),
        "src/b.txt": (("file", 4), None),
        "new": (None, ("directory", 0)),
        "new/deep": (None, ("directory", 0)),
        "new/deep/f": (None, ("file", 2)),
        "l": (None, ("link", 5)),
    }
    assert tree(hands.workspace) == before
    assert list((hands.state / "stages").iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_no_change_is_none(hands, kind):
    found = await left(hands, kind, "cat a.txt > x; mv x a.txt; touch src/b.txt; chmod 755 src; mkdir y; rmdir y")
    assert told(found) == {}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_directory_made_anew_hides_what_was_in_it(hands, kind):
    found = await left(hands, kind, "rm -r src; mkdir src; echo n > src/n")
    assert told(found) == {"src/b.txt": (("file", 4), None), "src/n": (None, ("file", 2))}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_directory_made_anew_within_one_that_was_made_anew_hides_what_was_in_it(hands, kind):
    (hands.workspace / "src/in").mkdir()
    (hands.workspace / "src/in/old").write_text("old\n")
    found = await left(hands, kind, "rm -r src; mkdir -p src/in; echo n > src/in/n")
    assert told(found) == {
        "src/b.txt": (("file", 4), None),
        "src/in/old": (("file", 4), None),
        "src/in/n": (None, ("file", 2)),
    }


@pytest.mark.parametrize("kind", KINDS)
async def test_pipes_devices_and_caches_are_left_out(hands, kind):
    script = (
        "mkfifo p; mkdir -p __pycache__ src/.pytest_cache; echo > __pycache__/x; mknod z c 0 0 || true; echo > real"
    )
    found = await left(hands, kind, script)
    assert set(told(found)) == {"real"}
    assert (
        {"p", "__pycache__", "src/.pytest_cache"}
        <= set(found.left_out)
        <= {"p", "z", "__pycache__", "src/.pytest_cache"}
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("script", ["rm src/p", "rm -r src", "mv src/p q", "rm src/p; echo > src/p"])
async def test_a_pipe_that_was_there_cannot_be_taken_away(hands, kind, script):
    os.mkfifo(hands.workspace / "src/p")
    assert told(await left(hands, kind, "echo n > n")) == {"n": (None, ("file", 2))}, "it is in nobody's way"
    with pytest.raises(ToolFailure, match="src/p is a pipe; these stay as they are") as refused:
        await left(hands, kind, script)
    assert refused.value.failure.kind == "invalid"


@pytest.mark.parametrize("kind", KINDS)
async def test_links_are_not_followed(hands, kind, tmp_path):
    (tmp_path / "secret").write_text("hush")
    found = await left(hands, kind, f"ln -s {tmp_path}/secret leak; ln -sfn {tmp_path} src/out; ln -s / root")
    assert {each.after.kind for each in found.changes.changes} == {"link"}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_link_that_was_there_leads_nowhere(hands, kind, tmp_path):
    (tmp_path / "secret").write_text("hush")
    (hands.workspace / "leak").symlink_to(tmp_path / "secret")
    with staged(hands.state, hands.workspace, kind) as stage:
        ran = await run(stage.command(Command(["sh", "-c", "cat leak; echo x > leak"])))
    assert ran.stdout == b""
    assert (tmp_path / "secret").read_text() == "hush"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["a.txt", "src/b.txt"])
@pytest.mark.parametrize("by", ["write", "replace", "remove"])
async def test_who_saves_meanwhile_comes_first(hands, kind, path, by):
    """The command worked with the older content, so its result must not go over the newer one."""
    target = hands.workspace / path
    with staged(hands.state, hands.workspace, kind) as stage:
        await run(stage.command(Command(["sh", "-c", f"sleep 0.05; echo more >> {path}"])))
        await asyncio.sleep(0.01)
        if by == "write":
            target.write_text("theirs")
        elif by == "replace":
            (hands.workspace / "tmp").write_text("theirs")
            (hands.workspace / "tmp").replace(target)
        else:
            target.unlink()
        if by == "remove" and kind == "copy":
            return  # then it looks like a new file, and the change set itself will see the difference
        with pytest.raises(ToolFailure, match="changed by somebody else") as failed:
            left_on(stage, Images(hands.state))
    assert failed.value.failure.kind == "transient"


async def test_too_many_changes_are_refused(hands, monkeypatch):
    monkeypatch.setattr("perdure.tools.sandbox.layer.MOST", 10)
    with pytest.raises(ToolFailure, match="more than 10 files"):
        await left(hands, "overlay", "for n in $(seq 20); do echo > f$n; done")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_disk_bomb_is_ended(hands, kind):
    with staged(hands.state, hands.workspace, kind) as stage:
        command = stage.command(Command(["sh", "-c", "while :; do head -c 5000000 /dev/zero >> big; done"], seconds=30))
        limits = Limits(disk=20_000_000, file_size=10**12)
        ran = await run(replace(command, limits=limits), watch=lambda: "disk" if stage.grown_over(limits.disk) else "")
    assert ran.stopped == "disk"
    assert list((hands.state / "stages").iterdir()) == []


async def test_odd_names_make_no_trouble(hands, tmp_path):
    workspace = tmp_path.resolve() / "a,b:c\\ d=é\n"
    workspace.mkdir()
    odd = replace(hands, workspace=workspace)
    found = await left(odd, "overlay", "echo x > 'n,:\\é'")
    assert set(told(found)) == {"n,:\\é"}


async def test_stages_of_dead_engines_are_swept(hands):
    home = hands.state / "stages"
    dead = home / "0123456789abcdef"
    (dead / "upper").mkdir(parents=True)
    dead.chmod(0o700)
    with staged(hands.state, hands.workspace, "overlay") as alive:
        assert not dead.exists()
        await asyncio.to_thread(sweep, home)
        assert alive.upper.exists()


# ------------------------------------------------------------------ by lot

STEPS = (
    "echo {n} > f{a}", "echo {n} >> f{a}", "rm -rf f{a}", "mkdir -p d{a}", "rm -rf d{a}", "mv -f f{a} f{b}",
    "ln -sfn f{a} l{b}", "rm -f l{a}", "chmod {mode} f{a}", "mkdir -p d{a}/d{b}; echo {n} > d{a}/d{b}/x",
    "mv d{a} d{b}", "cp -r d{a} d{b}", "chmod 75{mode1} d{a}", "rm -rf d{a}; mkdir d{a}; echo {n} > d{a}/y", "rm -rf l{a}",
)  # fmt: skip


def done(*words, cwd=None):
    subprocess.run(words, cwd=cwd, check=True)


def lot(seed, steps):
    random_ = random.Random(seed)
    lines = []
    for n in range(steps):
        one, other = random_.sample(range(4), 2)  # what `cp -r d1 d1` does depends on the order of a directory
        words = {"n": n, "a": one, "b": other, "mode": random_.choice([600, 644, 755])}
        lines.append(random_.choice(STEPS).format(**words, mode1=random_.choice([0, 5])) + " 2>/dev/null || true")
    return "\n".join(lines)


@pytest.mark.campaign("commands by lot on a stage, beside the same without", "I9", of="commands")
@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_found_is_what_happened(hands, kind, trials, tmp_path):
    """Both kinds of stage find the difference between the tree before and the tree as the commands alone leave it."""
    for seed in trials(10):
        for each in hands.workspace.iterdir():
            done("/bin/rm", "-rf", str(each))
        done("/bin/bash", "-c", lot(seed, 8), cwd=hands.workspace)
        reference = tmp_path / f"reference{seed}"
        done("/bin/cp", "-a", str(hands.workspace), str(reference))
        script = lot(seed + 10_000, 10)
        done("/bin/bash", "-c", script, cwd=reference)
        wanted, had = tree(reference), tree(hands.workspace)
        found = await left(hands, kind, script)
        changed = {path for path in wanted.keys() | had.keys() if wanted.get(path) != had.get(path)}
        assert {each.path for each in found.changes.changes} == changed, (seed, script)
        done("/bin/rm", "-rf", str(reference))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_file_and_a_directory_change_places(hands, kind):
    (hands.workspace / "link").symlink_to("src")
    found = await left(
        hands, kind, "rm a.txt; mkdir a.txt; echo x > a.txt/x; rm -r src; echo y > src; rm link; echo z > link"
    )
    assert told(found) == {
        "a.txt": (("file", 4), ("directory", 0)),
        "a.txt/x": (None, ("file", 2)),
        "src": (("directory", 0), ("file", 2)),
        "src/b.txt": (("file", 4), None),
        "link": (("link", 3), ("file", 2)),
    }


@pytest.mark.parametrize("kind", KINDS)
async def test_a_file_moves_into_a_directory_that_is_new(hands, kind):
    found = await left(hands, kind, "mkdir new; mv src/b.txt new/b.txt")
    assert told(found) == {
        "new": (None, ("directory", 0)),
        "new/b.txt": (None, ("file", 4)),
        "src/b.txt": (("file", 4), None),
    }


async def test_what_both_have_removed_is_no_change(hands):
    with staged(hands.state, hands.workspace, "overlay") as stage:
        await run(stage.command(Command(["rm", "a.txt"])))
        (hands.workspace / "a.txt").unlink()
        assert told(left_on(stage, Images(hands.state))) == {}


async def test_who_removes_the_directory_meanwhile_comes_first(hands):
    with staged(hands.state, hands.workspace, "overlay") as stage:
        await run(stage.command(Command(["sh", "-c", "echo more >> src/b.txt"])))
        shutil.rmtree(hands.workspace / "src")
        with pytest.raises(ToolFailure, match="src was changed by somebody else"):
            left_on(stage, Images(hands.state))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["a.txt", "src/new"])
async def test_what_a_command_has_shut_is_not_kept(hands, kind, path, mere_user):
    with pytest.raises(ToolFailure, match=r"nothing was kept: the command has left .* unreadable"):
        await left(hands, kind, f"echo x >> {path}; chmod 000 {path}")


async def test_a_hidden_directory_is_not_in_a_copy_and_that_is_no_change(hands):
    with staged(hands.state, hands.workspace, "copy") as stage:
        ran = await run(stage.command(Command(["ls"], tier="none", hidden=[hands.workspace / "src"])))
        assert ran.stdout == b"a.txt\n"
        assert told(left_on(stage, Images(hands.state))) == {}


def test_a_stage_that_cannot_be_made_says_why(hands, tmp_path):
    with pytest.raises(StageFailed, match="no stage can be made of"), staged(hands.state, tmp_path / "gone", "copy"):
        pytest.fail("there is nothing to stand on")


def test_a_workspace_that_does_not_fit_beside_itself_is_told(hands, tmp_path):
    small_disks.need_root()
    (hands.workspace / "large").write_bytes(b"x" * 2_000_000)
    disk = small_disks.SmallDisk(tmp_path / "small")
    try:
        disk.leave(100)
        with (
            pytest.raises(StageFailed, match=r"cannot be copied: .*No space left"),
            staged(tmp_path / "small", hands.workspace, "copy"),
        ):
            pytest.fail("there is no room")
        disk.mend()
        with staged(tmp_path / "small", hands.workspace, "copy") as stage:
            assert (stage.upper / "large").stat().st_size == 2_000_000
    finally:
        disk.remove()
