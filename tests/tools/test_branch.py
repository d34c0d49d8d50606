"""T7: Branches: what is tried on a copy of the workspace stays there, until it is placed."""

import asyncio
import stat

import pytest
from small_disks import small_disks

from perdure import Engine, Plan, tool
from perdure.plan.model.parts import Policy
from perdure.tools.branches import copying

CONTAINED = {"contained": True}
OPEN = {"id": "open", "tool": "branch.open"}


def writing(path, text, **more):
    return {"id": "act", "tool": "files.write", "with": {"path": path, "text": text}, **more}


def branch(id_, *steps, **more):
    """A step that works on a copy; what it opened is in its output."""
    output = {"open": "${steps.open.output}"} | {each["id"]: f"${{steps.{each['id']}.output}}" for each in steps}
    return {"id": id_, "policy": CONTAINED, "plan": {"steps": [OPEN, *steps], "output": output}, **more}


def placing(of="one", **more):
    return {"id": "place", "tool": "branch.place", "with": {"branch": f"${{steps.{of}.output.open.branch}}"}, **more}


def live(workspace, *steps, then=None, plan=None, **settings):
    """Run a plan of these steps to its end; the result, and what `then` does with the engine and the run."""

    async def go():
        made = Plan.model_validate({"recovery": {"unavailable": ["fail"]}, "steps": list(steps), **(plan or {})})
        async with Engine.open(workspace=workspace, **settings) as engine:
            run = await engine.start(made)
            result = await run.result()
            return result, await then(engine, run) if then else None

    return asyncio.run(asyncio.wait_for(go(), 60))


def files(root):
    """What every name leads to."""
    return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*") if each.is_file()}


@pytest.fixture
def workspace(tmp_path):
    place = tmp_path / "work"
    (place / "src").mkdir(parents=True)
    (place / "src/a.py").write_text("a\n")
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("src/a.py")
    return place


# ------------------------------------------------------------------------------- on a copy


def test_nothing_that_is_done_in_a_branch_is_seen_in_the_workspace_until_it_is_placed(workspace):
    before = files(workspace)
    act, seen = writing("src/a.py", "b\n"), {"id": "seen", "tool": "files.read", "with": {"path": "src/a.py"}}
    result, _ = live(workspace, branch("one", act, seen))
    assert result.output["seen"]["text"] == "b\n", "those inside see it"
    assert files(workspace) == before
    result, _ = live(workspace, branch("one", act), placing())
    assert files(workspace) == {**before, "src/a.py": "b\n", "link": "b\n"}


def test_files_links_modes_and_directories_come_back_as_they_were_made(workspace):
    made = (
        "mkdir -p new/deep && echo n > new/deep/n && ln -s deep/n new/way && chmod 700 src && rm run.sh && mv link l2"
    )
    act = {"id": "act", "tool": "shell.run", "with": {"command": made}}
    result, _ = live(workspace, branch("one", act), placing())
    assert result.status == "succeeded", result.failure
    assert files(workspace) == {"src/a.py": "a\n", "new/deep/n": "n\n", "new/way": "n\n", "l2": "a\n"}
    assert (workspace / "new/way").readlink().as_posix() == "deep/n"
    assert stat.S_IMODE((workspace / "src").stat().st_mode) == 0o700


def test_python_and_commands_work_on_the_copy(workspace):
    code = "open('src/a.py', 'a').write('more\\n')"
    act = {"id": "act", "tool": "python.run", "with": {"code": code}}
    seen = {"id": "seen", "tool": "shell.run", "with": {"command": ["cat", "src/a.py"]}}
    result, _ = live(workspace, branch("one", act, seen))
    assert result.output["seen"]["stdout"] == "a\nmore\n", result.failure
    assert files(workspace)["src/a.py"] == "a\n"


def test_a_branch_goes_on_from_another_and_is_placed_with_all_that_led_to_it(workspace):
    edits = [{"path": "src/a.py", "old": "b", "new": "c"}]
    further = {"tool": "branch.open", "with": {"origin": "${steps.open.output.branch}"}, "id": "further"}
    steps = [
        {"id": "one", "policy": CONTAINED, "steps": [OPEN, writing("src/a.py", "b\n")]},
        {
            "id": "two",
            "policy": CONTAINED,
            "steps": [further, {"id": "e", "tool": "files.edit", "with": {"edits": edits}}],
        },
        {"id": "place", "tool": "branch.place", "with": {"branch": "${steps.further.output.branch}"}},
    ]
    result, _ = live(workspace, *steps)
    assert result.status == "succeeded", result.failure
    assert files(workspace)["src/a.py"] == "c\n"
    assert [each["path"] for each in result.output["changes"]] == ["src/a.py"]


def test_a_branch_in_a_branch_is_a_copy_of_that_and_is_placed_there(workspace):
    inner = {"id": "two", "policy": CONTAINED, "steps": [{**OPEN, "id": "deeper"}, writing("src/a.py", "b\n")]}
    put = {"id": "put", "tool": "branch.place", "with": {"branch": "${steps.deeper.output.branch}"}}
    seen = {"id": "seen", "tool": "files.read", "with": {"path": "src/a.py"}}
    outer = {"id": "one", "policy": CONTAINED, "steps": [OPEN, inner, put, seen]}
    result, _ = live(workspace, outer)
    assert (result.status, result.output["text"]) == ("succeeded", "b\n"), result.failure
    assert files(workspace)["src/a.py"] == "a\n"


def test_what_was_placed_can_be_taken_back_and_so_can_the_copies(workspace):
    before = files(workspace)

    async def back(engine, run):
        await engine.rollback(run.id)
        return (await engine.run(run.id).result()).status

    database = workspace.parent / "runs.db"
    _, status = live(workspace, branch("one", writing("n", "n")), placing(), then=back, path=database)
    assert (status, files(workspace)) == ("rolled_back", before)
    assert [each.name for each in (workspace.parent / "runs.db.hands/branches").iterdir()] == ["lock"]


# ------------------------------------------------------------------------------- what is refused


def failing(workspace, *steps, **settings):
    before = files(workspace)
    result, _ = live(workspace, *steps, **settings)
    assert result.status == "failed"
    assert files(workspace) == before
    return result.failure


def test_where_somebody_has_changed_a_file_meanwhile_nothing_is_placed(workspace):
    meddling = {"id": "meddle", "tool": "files.write", "with": {"path": "src/a.py", "text": "mine\n"}}
    both = {"id": "both", "tool": "shell.run", "with": {"command": "echo x > src/a.py; echo y > other"}}
    result, _ = live(workspace, branch("one", both), meddling, placing())
    assert "src/a.py was changed by somebody else meanwhile" in result.failure.message
    assert files(workspace) == {"src/a.py": "mine\n", "link": "mine\n", "run.sh": "#!/bin/sh\n"}


def test_what_would_not_stay_on_the_copy_is_refused(workspace):
    called = []

    @tool(name="far.send", repeat="never", effects=["network"])
    def send() -> None:
        """Send."""
        called.append(1)

    @tool(name="far.unsaid", repeat="never")
    def unsaid() -> None:
        """Do who knows what."""
        called.append(1)

    for name, given in {
        "far.send": {},
        "far.unsaid": {},
        "git.status": {},
        "git.commit": {"message": "m"},
        "http.get": {"url": "http://127.0.0.1:1/"},
        "shell.run": {"command": ["true"], "network": ["127.0.0.1:1"]},
    }.items():
        act = {"id": "act", "tool": name, "with": given}
        failure = failing(workspace, branch("one", act), tools=[send, unsaid])
        assert failure.kind == "denied", (name, failure)
        assert f'"{name}" is not called in a branch' in failure.message
    assert not called


def test_without_a_copy_nothing_is_done_in_its_place(workspace):
    unopened = {"id": "one", "policy": CONTAINED, "plan": {"steps": [writing("n", "n")]}}
    assert "the first step of a branch is `branch.open`" in failing(workspace, unopened).message
    assert "write `policy: {contained: true}`" in failing(workspace, OPEN).message
    assert "there is no branch" in failing(workspace, {**placing(), "with": {"branch": "x"}}).message
    far = {"id": "place", "tool": "branch.place", "with": {"branch": "../../etc"}}
    assert "there is no branch" in failing(workspace, far).message


def test_a_tool_that_does_nothing_to_the_world_needs_no_copy(workspace):
    echo = {
        "id": "one",
        "policy": CONTAINED,
        "plan": {"steps": [{"id": "e", "tool": "flow.echo", "with": {"value": 1}}]},
    }
    assert live(workspace, echo)[0].output == 1


def test_a_plan_has_one_branch_opened_once(workspace):
    again = {"id": "again", "tool": "branch.open"}
    assert "a branch is open here already" in failing(workspace, branch("one", again)).message


def test_rules_hold_on_the_copy_and_again_where_it_is_placed(workspace):
    policy = Policy.model_validate({"files": {"write": ["src/**"]}})
    failure = failing(workspace, branch("one", writing("n", "n")), policy=policy)
    assert failure.kind == "denied"
    strict = {**placing(), "policy": {"files": {"deny": ["src/**"]}}}
    failure = failing(workspace, branch("one", writing("src/a.py", "n")), strict)
    assert failure.kind == "denied"


def test_agreeing_to_a_change_of_a_copy_is_not_agreeing_to_place_it(workspace):
    policy = Policy.model_validate({"files": {"ask": ["src/**"]}})

    async def go():
        made = Plan.model_validate({"steps": [branch("one", writing("src/a.py", "b\n")), placing()]})
        async with Engine.open(workspace=workspace, policy=policy) as engine:
            run, asked = await engine.start(made), []
            while (result := await engine.run(run.id).rested()).status == "waiting":
                for question in list(result._state.questions.values()):
                    asked.append(question.step)
                    assert files(workspace)["src/a.py"] == "a\n"
                    await engine.answer(run.id, question.question, "approved")
            return result.status, asked

    assert asyncio.run(asyncio.wait_for(go(), 60)) == ("succeeded", ["act", "place"])
    assert files(workspace)["src/a.py"] == "b\n"


# ------------------------------------------------------------------------------- what a copy has, and how much


def test_what_is_the_engines_or_gits_own_is_not_copied(workspace):
    (workspace / ".git").mkdir()
    (workspace / ".git/HEAD").write_text("ref\n")
    listing = {"id": "act", "tool": "shell.run", "with": {"command": ["find", ".", "-type", "f"], "keep": False}}
    result, _ = live(workspace, branch("one", listing), path=workspace / "runs.db")
    assert sorted(result.output["act"]["stdout"].split()) == ["./run.sh", "./src/a.py"]


@pytest.mark.parametrize(("word", "most"), [("MOST_FILES", 3), ("MOST_BYTES", 5)])
def test_a_workspace_that_is_too_large_is_refused_with_a_reason(workspace, monkeypatch, word, most):
    monkeypatch.setattr(copying, word, most)
    assert "the workspace is too large for a branch" in failing(workspace, branch("one")).message


def test_where_there_is_no_room_it_is_refused_and_nothing_is_left(workspace, monkeypatch):
    monkeypatch.setattr(copying, "SPARE", 1 << 60)
    failure = failing(workspace, branch("one"), path=workspace.parent / "runs.db")
    assert (failure.kind, "make room" in failure.message) == ("unavailable", True)
    assert [each.name for each in (workspace.parent / "runs.db.hands/branches").iterdir()] == ["lock"]


def test_a_fork_does_not_work_on_the_copy_of_another_run_nor_on_the_workspace(workspace):
    async def fork(engine, run):
        return await (await engine.fork(run.id, step="act")).result()

    _, forked = live(workspace, branch("one", writing("n", "n")), then=fork)
    assert "there is no copy of the workspace" in forked.failure.message
    assert "n" not in files(workspace)


# ------------------------------------------------------------------------------- disks that fill up


@pytest.fixture
def disk(tmp_path):
    with small_disks() as make:
        yield make(tmp_path / "disk")


@pytest.mark.parametrize("what", ["pages", "names"])
def test_a_disk_that_fills_up_in_a_copy_leaves_nothing_of_it_and_it_is_made_when_there_is_room(
    tmp_path, disk, monkeypatch, what
):
    """A page is more than a short file says that it takes, so what is looked at beforehand seems to be enough."""
    monkeypatch.setattr(copying, "SPARE", 0)
    work = tmp_path / "work"
    work.mkdir()
    for n in range(200):
        (work / f"{n}.txt").write_text(str(n))
    before, path = files(work), tmp_path / "disk" / "runs.db"
    steps = [branch("one", writing("new.txt", "new")), placing()]
    plan = Plan.model_validate({"recovery": {"unavailable": ["fail"]}, "steps": steps})

    async def go(run=None):
        async with Engine.open(path, workspace=work) as engine:
            handle = engine.run(run) if run else await engine.start(plan)
            if run:
                await handle.retry()
            else:
                (disk.leave if what == "pages" else disk.leave_names)(90)
            return await asyncio.wait_for(handle.result(), 60)

    failed = asyncio.run(go())
    assert (failed.status, failed.failure.kind) == ("failed", "unavailable")
    assert "No space left on device" in failed.failure.message
    assert (files(work), [*path.with_name("runs.db.hands").glob("branches/*/*")]) == (before, [])
    disk.mend()
    done = asyncio.run(go(failed.id))
    assert (done.status, files(work)) == ("succeeded", {**before, "new.txt": "new"})
