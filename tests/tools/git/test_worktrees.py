"""Working trees of the engine's own."""

from pathlib import Path

from git_shop import files_of


def test_a_worktree_is_away_from_the_workspace_and_follows_its_commits(shop):
    before = shop.theirs()
    made = shop.do("git.worktree", key="k", start="v1")
    place = Path(made["path"])
    assert place.is_relative_to(shop.state)
    assert (place / "src/a.py").read_text() == "a = 1\n"
    assert shop.do("git.worktree", key="k", start="v1") == made
    (place / "src/a.py").write_text("a = 'in the worktree'\n")
    one = shop.do("git.commit", message="One", worktree=made["name"])
    assert shop.do("git.status", worktree=made["name"])["clean"]
    assert shop.git("show", f"{one['commit']}:src/a.py") == "a = 'in the worktree'"
    (place / "two.txt").write_text("2")
    two = shop.do("git.commit", message="Two", worktree=made["name"])
    assert two["before"] == one["commit"]
    for output in (two, one):
        assert shop.undo("git.commit", output, message="x", worktree=made["name"]).failure is None
    assert (place / "two.txt").exists(), "only the commits were taken back"
    after = shop.theirs()
    assert {key for key in after if after[key] != before[key]} == set()


def test_undo_removes_what_is_unchanged_and_keeps_the_rest(shop):
    before = shop.theirs()
    made = shop.do("git.worktree")
    place = Path(made["path"])
    for name in ("new.txt", "x.log"):
        (place / name).write_text("mine")
        kept = shop.undo("git.worktree", made)
        assert (kept.failure.kind, kept.failure.detail["code"]) == ("unmet", "PRD5206")
        assert (place / name).read_text() == "mine"
        (place / name).unlink()
    for _ in range(2):
        assert shop.undo("git.worktree", made).failure is None
        assert not place.exists()
    assert shop.git("worktree", "list").count("\n") == 0
    assert shop.theirs() == before


def test_what_was_left_half_done_is_made_anew(shop):
    made = shop.do("git.worktree", key="k")
    whole = files_of(made["path"])
    intent = shop.state / "git/deeds"
    [kept] = intent.glob("*/intent.json")
    kept.write_text(kept.read_text().replace('"done":true', '"done":false'))
    (Path(made["path"]) / "src/a.py").unlink()
    (shop.root / ".git/worktrees" / made["name"] / "HEAD").unlink()
    assert shop.do("git.worktree", key="k") == made
    assert files_of(made["path"]) == whole
    assert shop.do("git.status", worktree=made["name"])["clean"]


def test_a_worktree_that_is_not_there(shop):
    assert shop.fail("git.status", worktree="perdure-none").detail["code"] == "PRD5205"
