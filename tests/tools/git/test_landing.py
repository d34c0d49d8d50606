"""E18: refs are swapped, never forced: races, locks that were left, and what cannot be moved."""

import asyncio
import os
import subprocess
import threading
import time

import pytest
from git_shop import Shop

from perdure.tools.git import landing
from perdure.tools.git.desk import Desk, Intent, Update


def second(shop):
    """Another engine, with a clone of its own that shares the repository."""
    other = Shop.__new__(Shop)
    other.run = shop.run
    other.root = shop.root.parent / "other"
    shop.git("worktree", "add", "-q", "--detach", str(other.root))
    other.state = shop.root.parent / "other-state"
    other.state.mkdir(mode=0o700)
    other.performer = Shop.performer_for(other.root, other.state)
    return other


def test_of_two_racing_committers_one_loses_cleanly_and_nothing_is_lost(shop):
    other = second(shop)
    for n in range(5):
        shop.write(f"mine-{n}.txt", "mine\n")
        other.write(f"theirs-{n}.txt", "theirs\n")
        attempts = [
            each.performer.perform(
                each.attempt(
                    "git.commit", arguments={"message": name, "branch": f"race-{n}", "paths": [f"{name}-{n}.txt"]}
                )
            )
            for each, name in ((shop, "mine"), (other, "theirs"))
        ]

        async def both(attempts=attempts):
            return await asyncio.gather(*attempts)

        outcomes = asyncio.run(both())
        won = [each.output["commit"] for each in outcomes if each.failure is None]
        lost = [each.failure for each in outcomes if each.failure]
        assert won, lost
        assert all((each.kind, each.detail["code"]) == ("unmet", "PRD5204") for each in lost)
        assert shop.git("rev-parse", f"race-{n}") in won
        assert all(shop.git("merge-base", "--is-ancestor", each, f"race-{n}") == "" for each in won)
    assert shop.git("fsck", "--full") is not None


def test_a_lock_that_somebody_holds_is_waited_for(shop, monkeypatch):
    monkeypatch.setattr(landing, "WAITS", (0.05,) * 40)
    lock = shop.root / ".git/refs/heads/fresh.lock"
    lock.write_bytes(b"")
    threading.Timer(0.5, lock.unlink).start()
    assert shop.do("git.branch", name="fresh")["after"]


def test_a_lock_that_is_gone_before_we_look_was_one_all_the_same(shop, monkeypatch):
    lock, look = shop.root / ".git/refs/heads/fresh.lock", landing.locks_of
    lock.write_bytes(b"")

    def late(*asked):
        lock.unlink(missing_ok=True)
        return look(*asked)

    monkeypatch.setattr(landing, "locks_of", late)
    assert shop.do("git.branch", name="fresh")["after"]


def test_a_lock_that_stays_is_a_failure_that_may_pass(shop, monkeypatch):
    monkeypatch.setattr(landing, "WAITS", (0.01,) * 3)
    lock = shop.root / ".git/refs/heads/fresh.lock"
    lock.write_bytes(b"")
    os.utime(lock, (0, 0))
    failure = shop.fail("git.branch", key="k", name="fresh")
    assert failure.kind == "transient"
    assert lock.exists(), "nobody of ours was at work there before: it is not ours"


def test_what_a_dead_git_of_ours_has_left_is_cleared_away(shop):
    head = shop.git("rev-parse", "HEAD")
    for n, (held, age) in enumerate([(f"{head}\n".encode(), 0), (b"", 60), (head[:7].encode(), 60)]):
        ref, key = f"refs/heads/left-{n}", f"left-{n}"
        Desk(shop.state / "git", key).keep(
            Intent((Update(ref, "", head),), {"ref": ref, "before": None, "after": head})
        )
        lock = shop.root / f".git/{ref}.lock"
        lock.write_bytes(held)
        os.utime(lock, (time.time() - age,) * 2)
        assert shop.do("git.branch", key=key, name=f"left-{n}")["after"] == head
        assert not lock.exists()


def test_a_lock_is_not_cleared_while_a_git_is_at_work(shop, monkeypatch):
    monkeypatch.setattr(landing, "WAITS", (0.01,) * 3)
    head = shop.git("rev-parse", "HEAD")
    Desk(shop.state / "git", "k").keep(Intent((Update("refs/heads/x", "", head),), {}))
    lock = shop.root / ".git/refs/heads/x.lock"
    lock.write_bytes(b"")
    os.utime(lock, (0, 0))
    with subprocess.Popen(["/usr/bin/git", "cat-file", "--batch"], cwd=shop.root, stdin=subprocess.PIPE) as busy:
        time.sleep(0.1)
        assert shop.fail("git.branch", key="k", name="x").kind == "transient"
        assert lock.exists()
        busy.stdin.close()
    assert shop.outcome("git.branch", key="k", name="x").failure is None


def test_a_name_in_the_way_is_told_in_the_words_of_git(shop):
    failure = shop.fail("git.branch", name="main/below")
    assert failure.kind == "unmet"
    assert "refs/heads/main" in failure.message


@pytest.mark.parametrize("place", ["refs/heads/out", "logs/refs/heads/out"])
def test_links_on_the_way_to_a_ref_are_not_followed(place, shop):
    outside = shop.root.parent / "outside"
    outside.mkdir()
    link = shop.root / ".git" / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    assert shop.fail("git.branch", name="out/side").detail["code"] == "PRD5202"
    assert list(outside.iterdir()) == []


def test_what_the_repository_has_already_is_not_carried_into_it_again(shop, monkeypatch):
    shop.write("large.bin", os.urandom(300_000))
    shop.git("add", ".")
    shop.git("commit", "-qm", "Large")
    monkeypatch.setattr(Desk, "clear", lambda _: None)
    shop.write("new.txt", "new\n")
    shop.do("git.commit", message="One", branch="one")
    shop.do("git.branch", name="two", start="HEAD~1")
    shop.do("git.tag", name="three", message="said")
    carried = [each.stat().st_size for each in shop.state.glob("git/deeds/*/carry-*.pack")]
    assert len(carried) == 3
    assert max(carried) < 5_000


def test_what_was_half_carried_is_carried_whole(shop):
    """Who died has left the commit there, and not its files."""
    shop.write("new.txt", "new\n")
    desk = Desk(shop.state / "git", "k")
    monkey = pytest.MonkeyPatch()
    monkey.setattr("perdure.tools.builtin.git_.moving.land", _dying)
    assert shop.outcome("git.commit", "k", message="One").failure is not None
    monkey.undo()
    made = desk.intent().updates[0].new
    left = shop.root / ".git/objects" / made[:2]
    left.mkdir(exist_ok=True)
    (left / made[2:]).write_bytes((desk.objects / made[:2] / made[2:]).read_bytes())
    assert shop.do("git.commit", "k", message="One")["commit"] == made
    assert shop.git("show", f"{made}:new.txt") == "new"
    shop.git("fsck", "--full", "--strict")


async def _dying(*_, **__):
    raise SystemExit
