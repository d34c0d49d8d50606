"""T7: what was done side by side comes together; where it does not, nothing is placed, and both are told."""

import asyncio
import shutil
from base64 import b64encode

import pytest
from git_shop import Shop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure import Engine, Plan
from perdure.core.policy import Layer, Terms
from perdure.tools.changes.merging import woven

TEXT = "".join(f"line {n}\n" for n in range(12))


@pytest.fixture
def shop(tmp_path):
    made = Shop(tmp_path)
    made.write("f.txt", TEXT)
    made.write("other.txt", "other\n")
    return made


def edit(shop, path, text, *groups):
    """Have a file hold a text, by way of a tool: in the workspace, or in a branch."""
    arguments = {"path": path, "text": text}
    outcome = shop.inside("files.write", *groups, **arguments) if groups else shop.outcome("files.write", **arguments)
    assert outcome.failure is None, outcome.failure


def both(shop, theirs, ours, path="f.txt"):
    """A branch that makes one thing of a file, and a workspace that makes another."""
    branch = shop.open("one")["branch"]
    edit(shop, path, theirs, "one")
    edit(shop, path, ours)
    return branch


def placed(shop, branch, **more):
    return shop.do("branch.place", branch=branch, merge=True, **more)


def refused(shop, branch, **more):
    before = {each: each.read_bytes() for each in shop.root.rglob("*") if each.is_file()}
    failure = shop.fail("branch.place", branch=branch, **{"merge": True, **more})
    assert {each: each.read_bytes() for each in shop.root.rglob("*") if each.is_file()} == before
    return failure


def read(shop, path="f.txt"):
    return (shop.root / path).read_text()


# ------------------------------------------------------------------------------- what goes together


def test_t7_changes_that_keep_clear_of_each_other_are_both_there(shop):
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 9\n", "nine\nand more\n"))
    edit(shop, "new/n.txt", "n", "one")
    output = placed(shop, branch, key="k")
    assert output["merged"] == ["f.txt"]
    assert read(shop) == TEXT.replace("line 2\n", "two\n").replace("line 9\n", "nine\nand more\n")
    assert read(shop, "new/n.txt") == "n"
    assert placed(shop, branch, key="k") == output, "done once under its key"


def test_t7_without_merge_it_is_a_conflict_as_before(shop):
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 9\n", "nine\n"))
    assert refused(shop, branch, merge=False).kind == "logic"


def test_what_both_have_done_alike_is_done_once(shop):
    same = TEXT.replace("line 2\n", "two\n")
    branch = both(shop, same, same)
    assert placed(shop, branch)["merged"] == []
    branch_two = shop.open("two")["branch"]
    edit(shop, "f.txt", same.replace("line 5\n", "5\n").replace("line 8\n", "8\n"), "two")
    edit(shop, "f.txt", same.replace("line 5\n", "5\n"))
    assert placed(shop, branch_two)["merged"] == ["f.txt"]
    assert read(shop) == same.replace("line 5\n", "5\n").replace("line 8\n", "8\n")


def test_who_has_changed_the_mode_decides_it(shop):
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 9\n", "nine\n"))
    (shop.root / "f.txt").chmod(0o755)
    placed(shop, branch)
    assert (shop.root / "f.txt").stat().st_mode & 0o777 == 0o755


def test_a_directory_that_the_workspace_has_taken_away_comes_with_the_files_that_need_it(shop):
    shop.write("d/keep.txt", "k")
    branch = shop.open("one")["branch"]
    edit(shop, "d/new.txt", "n", "one")
    (shop.root / "d/keep.txt").unlink()
    (shop.root / "d").rmdir()
    placed(shop, branch)
    assert sorted(each.name for each in (shop.root / "d").iterdir()) == ["new.txt"]


def test_what_was_merged_can_be_taken_back(shop):
    ours = TEXT.replace("line 9\n", "nine\n")
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), ours)
    output = placed(shop, branch, key="k")
    assert shop.undo("branch.place", output, "k", branch=branch, merge=True).failure is None
    assert read(shop) == ours


def test_t7_branches_in_a_branch_come_together_there(shop):
    outer = shop.open("work")["branch"]
    names = {each: shop.open("work", each)["branch"] for each in ("one", "two")}
    edit(shop, "f.txt", TEXT.replace("line 2\n", "two\n"), "work", "one")
    edit(shop, "f.txt", TEXT.replace("line 9\n", "nine\n"), "work", "two")
    found = [shop.inside("branch.place", "work", branch=each, merge=True) for each in names.values()]
    assert [each.output["merged"] for each in found] == [[], ["f.txt"]]
    expected = TEXT.replace("line 2\n", "two\n").replace("line 9\n", "nine\n")
    assert (shop.copy(outer) / "f.txt").read_text() == expected
    assert read(shop) == TEXT


@pytest.mark.parametrize("further", [False, True])
def test_by_hand_in_the_workspace_and_by_a_tool_in_the_branch(shop, further):
    """What the file was is found where it was changed first: in the branch, or in the one that it goes on from."""
    branch = shop.open("one")["branch"]
    edit(shop, "f.txt", TEXT.replace("line 2\n", "two\n"), "one")
    if further:
        branch = shop.open("two", origin=branch)["branch"]
        edit(shop, "f.txt", TEXT.replace("line 2\n", "two\n").replace("line 3\n", "three\n"), "two")
    shop.write("f.txt", TEXT.replace("line 9\n", "nine\n"))
    assert placed(shop, branch)["merged"] == ["f.txt"]
    assert ("two\n" in read(shop), "three\n" in read(shop), "nine\n" in read(shop)) == (True, further, True)


def test_by_a_command_as_well_as_by_a_tool(tmp_path):
    """What a command has changed is merged, too: what the file was before is found."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "f.txt").write_text(TEXT)

    def part(name, line):
        command = ["sed", "-i", f"s/line {line}$/{name}/", "f.txt"]
        act = {"id": f"do_{name}", "tool": "shell.run", "with": {"command": command}}
        return {
            "id": name,
            "policy": {"contained": True},
            "steps": [{"id": f"open_{name}", "tool": "branch.open"}, act],
        }

    def put(name):
        given = {"branch": f"${{steps.open_{name}.output.branch}}", "merge": True}
        return {"id": f"put_{name}", "tool": "branch.place", "with": given}

    parts = [part("one", 2), part("two", 6), part("three", 10)]
    steps = [{"id": "parts", "parallel": parts}, *(put(each) for each in ("one", "two", "three"))]
    outputs = {each: f"${{steps.put_{each}.output.merged}}" for each in ("one", "two", "three")}

    async def go():
        async with Engine.open(workspace=work) as engine:
            run = await engine.start(Plan.model_validate({"steps": steps, "output": outputs}))
            return await run.result()

    result = asyncio.run(asyncio.wait_for(go(), 60))
    assert result.status == "succeeded", result.failure
    assert result.output == {"one": [], "two": ["f.txt"], "three": ["f.txt"]}
    expected = TEXT.replace("line 2\n", "one\n").replace("line 6\n", "two\n").replace("line 10\n", "three\n")
    assert (work / "f.txt").read_text() == expected


# ------------------------------------------------------------------------------- what does not


def test_t7_where_they_do_not_go_together_nothing_is_placed_and_both_are_told(shop):
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 2\n", "deux\n"))
    edit(shop, "new.txt", "n", "one")
    failure = refused(shop, branch)
    assert failure.kind == "unmet"
    [told] = failure.detail["conflicts"]
    assert told["path"] == "f.txt"
    marked = "<<<<<<< workspace\ndeux\n=======\ntwo\n>>>>>>> branch\n"
    assert told["text"] == TEXT.replace("line 2\n", marked)
    assert {told[each]["kind"] for each in ("base", "ours", "theirs")} == {"file"}


def test_t7_what_was_settled_stands_in_place_of_both(shop):
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 2\n", "deux\n"))
    edit(shop, "new.txt", "n", "one")
    refused(shop, branch)
    output = placed(shop, branch, settled={"f.txt": "two and deux\n"})
    assert (output["merged"], read(shop), read(shop, "new.txt")) == (["f.txt"], "two and deux\n", "n")


def test_what_was_settled_holds_for_what_was_seen(shop):
    """Nobody's later change is lost because somebody has settled an earlier one."""
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 2\n", "deux\n"))
    refused(shop, branch)
    edit(shop, "f.txt", TEXT.replace("line 2\n", "deux\n") + "and later\n")
    failure = refused(shop, branch, settled={"f.txt": "two and deux\n"})
    [told] = failure.detail["conflicts"]
    assert (told["why"], "and later" in told["text"]) == ("has changed since it was settled", True)
    placed(shop, branch, settled={"f.txt": "all three\n"})
    assert read(shop) == "all three\n"


@pytest.mark.parametrize("gone", ["branch", "workspace"])
@pytest.mark.parametrize("answer", [None, "kept\n"])
def test_gone_on_one_side_and_changed_on_the_other_is_a_conflict(shop, gone, answer):
    branch = shop.open("one")["branch"]
    if gone == "branch":
        shop.inside("files.delete", "one", paths=["f.txt"])
        edit(shop, "f.txt", "changed\n")
    else:
        edit(shop, "f.txt", "changed\n", "one")
        (shop.root / "f.txt").unlink()
    [told] = refused(shop, branch).detail["conflicts"]
    assert f"is gone in the {gone}" in told["why"]
    assert "changed\n" in told["text"]
    placed(shop, branch, settled={"f.txt": answer})
    assert ((shop.root / "f.txt").exists(), answer is None or read(shop) == answer) == (answer is not None, True)


def test_made_on_both_sides_is_a_conflict_unless_it_is_the_same(shop):
    branch = both(shop, "one\nsame\n", "two\nsame\n", "new.txt")
    [told] = refused(shop, branch).detail["conflicts"]
    assert told["text"] == "<<<<<<< workspace\ntwo\n=======\none\n>>>>>>> branch\nsame\n"
    assert told["base"] is None


def test_what_is_no_text_conflicts_as_a_whole(shop):
    shop.write("b.bin", b"\0one")
    branch = shop.open("one")["branch"]
    shop.copy(branch).joinpath("b.bin").write_bytes(b"\0two")
    shop.write("b.bin", b"\0three")
    [told] = refused(shop, branch).detail["conflicts"]
    assert (told["text"], "no text" in told["why"]) == ("", True)


def test_a_directory_on_one_side_and_a_file_on_the_other_is_nothing_that_a_text_settles(shop):
    branch = shop.open("one")["branch"]
    edit(shop, "x/y.txt", "y", "one")
    edit(shop, "x", "file")
    assert [each["path"] for each in refused(shop, branch).detail["conflicts"]] == ["x"]
    assert refused(shop, branch, settled={"x": "text"}).kind == "invalid"


def stand(place, what):
    """Have nothing, a file or a directory with a file stand under a name."""
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if what == "dir":
        place.mkdir()
        (place / "in").write_text("in")
    elif what:
        place.write_text(what)


def standing(place):
    return "dir" if place.is_dir() else place.read_text() if place.exists() else None


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "after"),
    [
        ("dir", "file", None, "file"),
        ("dir", None, "file", "file"),
        ("file", "dir", None, "dir"),
        ("file", None, "dir", "dir"),
        (None, "dir", "dir", "dir"),
        ("dir", "one", "two", "conflict"),
        ("file", "dir", "two", "conflict"),
        (None, "dir", "file", "conflict"),
        ("file", "dir", "dir", "dir"),
    ],
)
def test_files_that_become_directories_and_the_other_way_round(shop, base, ours, theirs, after):
    stand(shop.root / "x", base)
    branch = shop.open("one")["branch"]
    stand(shop.copy(branch) / "x", theirs)
    stand(shop.root / "x", ours)
    if after == "conflict":
        assert "x" in [each["path"] for each in refused(shop, branch).detail["conflicts"]]
    else:
        placed(shop, branch)
        assert standing(shop.root / "x") == after


def test_what_is_settled_must_be_a_conflict_and_settled(shop):
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 2\n", "deux\n"))
    assert "other.txt' is no conflict" in refused(shop, branch, settled={"other.txt": "x"}).message
    text = refused(shop, branch).detail["conflicts"][0]["text"]
    failure = refused(shop, branch, settled={"f.txt": text})
    assert (failure.kind, "still has marks" in failure.message) == ("invalid", True)
    assert "merge: true" in refused(shop, branch, merge=False, settled={"f.txt": "x"}).message


def test_what_may_not_be_read_is_not_told(shop):
    branch = both(shop, TEXT.replace("line 2\n", "two\n"), TEXT.replace("line 2\n", "deux\n"))
    layer = Layer("test", files_read=Terms(deny=("f.txt",)))
    outcome = shop.outcome("branch.place", branch=branch, merge=True, layers=(layer,))
    assert (outcome.failure.kind, "deux" in str(outcome.failure)) == ("denied", False)


def test_long_texts_are_cut_and_said_to_be(shop):
    long = "x" * 60_000 + "\n"
    branch = both(shop, long + "two\n", long + "deux\n", "long.txt")
    [told] = refused(shop, branch).detail["conflicts"]
    assert (len(told["text"]), told["cut"]) == (50_000, True)


# ------------------------------------------------------------------------------- any texts

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\r\n", "ü\n"]), max_size=8)
TAIL = st.sampled_from(["", "end"])
VERSION = st.one_of(st.none(), st.builds(lambda lines, tail: "".join(lines) + tail, LINES, TAIL))


def hold(place, text):
    place.unlink(missing_ok=True)
    if text is not None:
        place.write_bytes(text.encode())


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(VERSION, VERSION, VERSION), min_size=1, max_size=4))
def test_t7_what_one_side_has_left_alone_is_as_the_other_wants_it_and_else_nothing_is_lost(tmp_path_factory, files):
    """Whatever three versions there are of a file: unchanged on one side gives the other; a conflict changes nothing."""
    shop = Shop(tmp_path_factory.mktemp("any"))
    for n, (base, _, _) in enumerate(files):
        hold(shop.root / f"f{n}", base)
    branch = shop.open("one")["branch"]
    for n, (base, ours, theirs) in enumerate(files):
        if theirs is not None:
            data = b64encode(theirs.encode()).decode()  # a text would get the line ends of the file that is there
            assert shop.inside("files.write", "one", path=f"f{n}", base64=data).failure is None
        elif base is not None:
            assert shop.inside("files.delete", "one", paths=[f"f{n}"]).failure is None
        hold(shop.root / f"f{n}", ours)
    outcome = shop.outcome("branch.place", branch=branch, merge=True)
    found = [
        (shop.root / f"f{n}").read_bytes().decode() if (shop.root / f"f{n}").exists() else None
        for n in range(len(files))
    ]
    if outcome.failure is not None:
        assert outcome.failure.kind == "unmet"
        assert found == [ours for _, ours, _ in files]
        told = {each["path"] for each in outcome.failure.detail["conflicts"]}
        assert all(len({files[int(each[1:])][n] for n in range(3)}) == 3 for each in told)
        return
    for now, (base, ours, theirs) in zip(found, files, strict=True):
        if ours in (base, theirs):
            assert now == theirs
        elif theirs == base:
            assert now == ours
        else:
            assert (now, 0) == woven(base, ours, theirs)
