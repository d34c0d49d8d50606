"""Closing branches: the copy goes, what was placed or committed stays, and nothing of it is undone elsewhere."""

import asyncio

import pytest
from git_shop import Shop


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


def left(shop):
    return sorted(each.name for each in (shop.state / "branches").iterdir() if each.is_dir())


def write(shop, path, text, *groups, key=None):
    outcome = shop.inside("files.write", *groups, key=key, path=path, text=text)
    assert outcome.failure is None, outcome.failure
    return outcome.output


def undo(shop, name, output, key, *groups, **arguments):
    made = shop.attempt(name, key, arguments=arguments, by="undo", deed="undo", output=output, contained=groups)
    return asyncio.run(shop.performer.perform(made))


def test_a_closed_branch_is_gone_and_what_was_placed_stays(shop):
    branch = shop.open("one")["branch"]
    write(shop, "n.txt", "n", "one")
    shop.do("branch.place", branch=branch)
    assert shop.do("branch.close", branch=branch, key="k") == {"branch": branch, "closed": True}
    assert shop.do("branch.close", branch=branch, key="k") == {"branch": branch, "closed": True}, "again is the same"
    assert (shop.root / "n.txt").read_text() == "n"
    assert left(shop) == [f"{branch}.closed"]


def test_what_was_done_on_it_is_not_undone_on_what_lies_around_it(shop):
    """The file of the outer copy is the same one by accident, or because it was placed: it is not for the inner steps."""
    shop.open("outer", key="o")
    inner = shop.open("outer", "inner")["branch"]
    wrote = write(shop, "src/a.py", "inner\n", "outer", "inner", key="w")
    placed = shop.inside("branch.place", "outer", branch=inner, key="p").output
    shop.inside("branch.close", "outer", branch=inner)
    [outer] = [each for each in (shop.state / "branches").iterdir() if each.is_dir()]
    text = outer / "workspace/src/a.py"
    assert undo(shop, "files.write", wrote, "w", "outer", "inner", path="src/a.py", text="inner\n").failure is None
    assert text.read_text() == "inner\n"
    shop.do("branch.close", branch=outer.name)
    shop.write("src/a.py", "inner\n")
    assert undo(shop, "branch.place", placed, "p", "outer", branch=inner).failure is None
    assert (shop.root / "src/a.py").read_text() == "inner\n", "the workspace is not what it was placed on"


def test_nothing_more_is_done_in_a_closed_branch_nor_is_it_opened_again(shop):
    branch = shop.open("one")["branch"]
    shop.do("branch.close", branch=branch)
    failure = shop.inside("files.write", "one", path="n.txt", text="n").failure
    assert (failure.kind, "was closed" in failure.message) == ("unavailable", True)
    assert "opened once" in shop.inside("branch.open", "one").failure.message
    assert "was closed" in shop.inside("branch.open", "one", "inner").failure.message
    assert not (shop.root / "n.txt").exists()


def test_only_who_stands_outside_closes_it(shop):
    branch = shop.open("one")["branch"]
    assert "closed from outside" in shop.inside("branch.close", "one", branch=branch).failure.message
    shop.run = "r_2"
    assert shop.do("branch.close", branch="0" * 32)["closed"] is False, "one that is not there is no mistake"
    assert "belongs to another run" in shop.fail("branch.close", branch=branch).message
    assert shop.fail("branch.close", branch="../x").kind == "invalid"
    assert left(shop) == [branch]


def test_what_was_half_closed_is_closed_by_the_next_try(shop, monkeypatch):
    branch = shop.open("one")["branch"]

    def dying(place):
        raise SystemExit

    monkeypatch.setattr("perdure.tools.branches.closing.remove", dying)
    shop.outcome("branch.close", branch=branch, key="k")
    monkeypatch.undo()
    assert left(shop) == [f"{branch}.closed", f"{branch}.gone"]
    assert shop.do("branch.close", branch=branch, key="k")["closed"] is True
    assert left(shop) == [f"{branch}.closed"]


def test_undoing_the_opening_leaves_nothing(shop):
    branch = shop.open("one", key="o")["branch"]
    shop.do("branch.close", branch=branch)
    assert undo(shop, "branch.open", {}, "o", "one").failure is None
    assert left(shop) == []
