"""E8 E15 E16: commands that look after a journal: ls, export, import, gc; each with what can go wrong."""

import json
import sqlite3
import stat
import time
from functools import partial
from pathlib import Path

import pytest
from program import a_run, held, without_privileges, write

LONG_AGO = 1_600_000_000_000


def spoil(path, run="r_1"):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE turns SET body = x'00' WHERE run = (SELECT number FROM runs WHERE id = ?)", (run,))
    connection.close()


def ids(done):
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


# ------------------------------------------------------------ ls


def test_runs_are_listed_newest_first(perdure, db):
    now = int(time.time() * 1000)
    write(db, a_run("r_1", at=now - 3 * 3_600_000, over=True), a_run("r_2", goal="Ask", at=now, asked=["q_1", "q_2"]))
    done = perdure("ls", "--db", db)
    assert (done.returncode, "perdure resume --all" in done.stderr) == (0, True)
    newest, oldest = (line.split("\t") for line in done.stdout.splitlines())
    assert newest[:2] + newest[3:] == ["r_2", "interrupted", "2", "Ask"]
    assert oldest in (["r_1", "succeeded", age, "", "Ship it"] for age in ("2h", "3h"))
    for alias in ("list", "ps"):
        assert ids(perdure(alias, "--db", db)) == ["r_2", "r_1"]
        assert f"\n  {alias} " not in perdure("--help").stdout


def test_runs_as_json_in_pages(perdure, db):
    write(db, *(a_run(f"r_{n}", over=n % 2 == 0, session="s_1" if n < 3 else "") for n in range(1, 6)))
    page = json.loads(perdure("ls", "--json", "--limit", 2, PERDURE_DB=str(db)).stdout)
    assert page["schema"] == "perdure.runs/1"
    assert [run["id"] for run in page["runs"]] == ["r_5", "r_4"]
    assert page["next"] == 4
    assert page["runs"][0] | {"head": ""} == {
        "id": "r_5",
        "number": 5,
        "status": "running",
        "over": False,
        "goal": "Ship it",
        "session": None,
        "parent": None,
        "created": "2027-01-15T08:00:00.001000+00:00",
        "updated": "2027-01-15T08:00:00.001000+00:00",
        "wake_at": None,
        "entries": 1,
        "head": "",
        "questions": 0,
        "fork": None,
        "interrupted": True,
    }
    listed = partial(perdure, "ls", "--db", db)
    last = json.loads(listed("--json", "--limit", 2, "--before", 2).stdout)
    assert ([run["id"] for run in last["runs"]], last["next"]) == (["r_1"], None)
    assert "--before 4" in listed("--limit", 2).stderr
    assert ids(listed("--all")) == [f"r_{n}" for n in (5, 4, 3, 2, 1)]
    assert ids(listed("--status", "succeeded")) == ["r_4", "r_2"]
    assert ids(listed("--status", "succeeded", "--status", "running", "--session", "s_1")) == ["r_2", "r_1"]
    assert listed("--status", "done").returncode == 2
    assert listed("--before", 2**64).returncode == 2


def test_a_journal_that_is_not_there_yet_is_empty(perdure, db):
    done = perdure("ls", "--db", db)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"there is no journal {db} yet" in done.stderr
    assert json.loads(perdure("ls", "--json", "--db", db).stdout) == {
        "schema": "perdure.runs/1",
        "runs": [],
        "next": None,
        "owner": None,
    }
    assert not db.exists()


def test_what_others_wrote_is_shown_not_sent(perdure, db):
    write(db, a_run("r_1", goal="\x1b]0;owned\x07\n\tgoal \u202e \ud800 " + "x" * 200), a_run("r_2", at=-(2**62)))
    done = perdure("ls", "--db", db)
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert all(line.count("\t") == 4 for line in done.stdout.splitlines())
    document = json.loads(perdure("ls", "--json", "--db", db).stdout)
    assert document["runs"][0]["created"] is None, "no calendar has this time"
    assert document["runs"][1]["goal"].startswith("\x1b]0;owned")


@pytest.mark.parametrize("words", [["ls"], ["export", "@last"], ["import", "{good}"], ["gc"], ["gc", "--dry-run"]])
def test_a_file_that_is_no_journal_is_refused(perdure, tmp_path, words):
    other, good = tmp_path / "other.db", tmp_path / "good.jsonl"
    good.write_text("{}")
    for content in (b"Remember the milk. " * 100, None):
        if content:
            other.write_bytes(content)
        else:
            other.unlink()
            connection = sqlite3.connect(other)
            connection.execute("CREATE TABLE a (b)")
            connection.close()
        done = perdure(*(word.format(good=good) for word in words), "--db", other)
        assert (done.returncode, "PRD2104" in done.stderr) == (3, True), done.stderr


# ------------------------------------------------------------ export and import


def test_a_run_goes_to_another_journal(perdure, db, tmp_path):
    write(db, a_run("r_1", goal="Ship é \ud800"), a_run("r_2", over=True))
    done = perdure("export", "r_1", "--db", db, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote r_1.jsonl: 1 entry of r_1" in done.stderr
    assert stat.S_IMODE((tmp_path / "r_1.jsonl").stat().st_mode) == 0o600
    told = json.loads(perdure("export", "@last", "-o", "b.jsonl", "--json", "--db", db, cwd=tmp_path).stdout)
    assert (told["schema"], told["run"], told["file"]) == ("perdure.export/1", "r_2", "b.jsonl")
    new = tmp_path / "new" / "runs.db"
    done = perdure("import", "r_1.jsonl", "b.jsonl", "--db", new, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "r_1\trunning\t1\nr_2\tsucceeded\t1\n")
    heads = [
        {run["id"]: run["head"] for run in json.loads(perdure("ls", "--json", "--db", each).stdout)["runs"]}
        for each in (db, new)
    ]
    assert heads[0] == heads[1]
    assert sorted(each.name for each in tmp_path.glob("*.jsonl*")) == ["b.jsonl", "r_1.jsonl"]


def test_through_a_pipe(perdure, db, tmp_path):
    write(db, a_run("r_1"))
    line = perdure("export", "r_", "-o", "-", "--db", db)
    assert line.stderr == ""
    done = perdure("import", "-", "--json", "--db", tmp_path / "new.db", stdin=line.stdout)
    document = json.loads(done.stdout)
    assert (document["schema"], [run["id"] for run in document["runs"]]) == ("perdure.import/1", ["r_1"])
    assert perdure("export", "r_1", "-o", "-", "--json", "--db", db).returncode == 2


def test_a_run_that_is_not_there(perdure, db):
    write(db, a_run("r_11"), a_run("r_12"))
    for name, code in (("r_2", "PRD2002"), ("r_1", "PRD2003"), ("", "PRD2002"), ("\x1b", "PRD2002")):
        done = perdure("export", name, "--db", db)
        assert (done.returncode, code in done.stderr) == (3, True)
        assert "\x1b" not in done.stderr
    done = perdure("export", "@last", "--db", db.with_name("nowhere.db"), "--json")
    assert (done.returncode, json.loads(done.stderr)["code"]) == (3, "PRD2104")


def test_a_run_that_cannot_be_believed_is_not_exported(perdure, db, tmp_path):
    write(db, a_run("r_1"))
    spoil(db)
    done = perdure("export", "r_1", "--db", db, cwd=tmp_path)
    assert (done.returncode, "PRD2204" in done.stderr, "entry 1 of r_1" in done.stderr) == (1, True, True)
    assert list(tmp_path.glob("*jsonl*")) == []


def test_an_export_that_fails_leaves_what_was_there(perdure, db, tmp_path):
    write(db, a_run("r_1"))
    (tmp_path / "dir").mkdir()
    (tmp_path / "kept.jsonl").write_text("kept")
    for target in ("dir", "no/where.jsonl", "/dev/null", "/dev/full"):
        done = perdure("export", "r_1", "-o", target, "--db", db, cwd=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    (tmp_path / "link.jsonl").symlink_to("kept.jsonl")
    assert perdure("export", "r_1", "-o", "link.jsonl", "--db", db, cwd=tmp_path).returncode == 0
    assert (tmp_path / "kept.jsonl").read_text().startswith('{"perdure_run":1')
    assert (tmp_path / "link.jsonl").is_symlink()


def test_the_name_of_a_run_does_not_choose_the_directory(perdure, db, tmp_path):
    write(db, a_run("r_1/../../../escaped"))
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert perdure("export", "@last", "--db", db, cwd=tmp_path / "a" / "b").returncode == 0
    assert [each.name for each in tmp_path.rglob("*.jsonl")] == ["r_1_.._.._.._escaped.jsonl"]


def test_what_is_refused_is_named_and_what_was_taken_is_said(perdure, db, tmp_path):
    write(db, a_run("r_1"), a_run("r_2"))
    for run in ("r_1", "r_2"):
        perdure("export", run, "--db", db, cwd=tmp_path)
    text = (tmp_path / "r_2.jsonl").read_text()
    (tmp_path / "half.jsonl").write_text(text[: len(text) // 2])
    (tmp_path / "whole_lines.jsonl").write_text(text.splitlines()[0])
    new = tmp_path / "new.db"
    done = perdure("import", "r_1.jsonl", "half.jsonl", "--db", new, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "r_1\trunning\t1\n")
    assert "PRD2007: half.jsonl: " in done.stderr
    assert "PRD2007" in perdure("import", "whole_lines.jsonl", "--db", new, cwd=tmp_path).stderr
    assert "PRD2006: r_1.jsonl: " in perdure("import", "r_1.jsonl", "--db", new, cwd=tmp_path).stderr
    assert ids(perdure("ls", "--db", new)) == ["r_1"]


def test_files_are_looked_at_before_a_journal_is_made(perdure, tmp_path):
    for name in ("nowhere.jsonl", "."):
        done = perdure("import", name, "--db", tmp_path / "new.db")
        assert (done.returncode, "PRD1001" in done.stderr) == (3, True)
    assert perdure("import").returncode == 2
    assert not (tmp_path / "new.db").exists()


# ------------------------------------------------------------ gc


def test_old_runs_that_are_over_are_forgotten(perdure, db):
    recent = int(time.time() * 1000) - 2 * 86_400_000
    runs = [a_run(f"r_{n}", over=n != 3, at=LONG_AGO) for n in range(1, 6)]
    write(db, *runs, a_run("r_6", over=True, at=recent))
    sweep = partial(perdure, "gc", "--db", db)
    assert json.loads(sweep("--json").stdout)["runs"] == 0, "100 are kept"
    done = sweep("--keep", 2, "--dry-run")
    assert (done.stdout, done.stderr) == ("r_4\nr_2\nr_1\n", "3 runs would go\n")
    assert sweep("--keep", 2).stderr == "forgot 3 runs and 0 artifacts\n"
    assert ids(perdure("ls", "--db", db)) == ["r_6", "r_5", "r_3"]
    assert json.loads(sweep("--dry-run", "--json", PERDURE_RETENTION__KEEP="0").stdout)["ids"] == ["r_5"]
    found = json.loads(sweep("--older-than", "1d12h", "--json", PERDURE_RETENTION__KEEP="0").stdout)
    kept = {"hands_bytes": 0, "left": []}
    assert found == {"schema": "perdure.gc/1", "dry_run": False, "runs": 2, "artifacts": 0, **kept}
    assert ids(perdure("ls", "--db", db)) == ["r_3"]


def test_gc_makes_no_journal_and_reads_no_rubbish(perdure, db):
    done = perdure("gc", "--db", db)
    assert (done.returncode, db.exists()) == (0, False)
    for words in (["--older-than", "soon"], ["--keep", "-1"], ["--older-than", ""]):
        assert perdure("gc", *words, "--db", db).returncode == 2
    assert perdure("gc", "--keep", 10**30, "--db", db).returncode == 6


# ------------------------------------------------------------ others have it


def test_who_only_reads_is_never_kept_waiting(perdure, db, tmp_path):
    write(db, a_run("r_1"))
    perdure("export", "r_1", "--db", db, cwd=tmp_path)
    with held(db) as process:
        for words in (["gc"], ["import", tmp_path / "r_1.jsonl"]):
            done = perdure(*words, "--db", db)
            assert done.returncode == 75
            assert f"PRD2101: runs.db is written by process {process.pid}" in done.stderr
        assert ids(perdure("ls", "--db", db)) == ["r_1"]
        assert perdure("gc", "--dry-run", "--db", db).returncode == 0
        assert perdure("export", "r_1", "--db", db, cwd=tmp_path).returncode == 0
        owner = perdure("doctor", "--db", db)
        assert (owner.returncode, f"is written by process {process.pid}" in owner.stdout) == (0, True)


def test_in_a_read_only_directory_runs_can_be_looked_at(perdure, tmp_path):
    place = tmp_path / "sealed"
    path = write(place / "runs.db", a_run("r_1", over=True, at=LONG_AGO))
    path.chmod(0o644)
    place.chmod(0o555)
    started = partial(perdure, before=without_privileges)
    assert ids(started("ls", "--db", path)) == ["r_1"]
    for words in (["gc"], ["import", "-"]):
        done = started(*words, "--db", path, stdin="")
        assert (done.returncode, "PRD2203" in done.stderr) == (1, True), done.stderr
    done = started("export", "r_1", "-o", place / "r_1.jsonl", "--db", path)
    assert (done.returncode, "r_1.jsonl: Permission denied" in done.stderr) == (2, True)
    report = started("doctor", "--db", path)
    failing = [line for line in report.stdout.splitlines() if line.startswith("fail")]
    assert all("sandbox" in line for line in failing), "half a root cannot build one; the rest is well"
    assert f"warn  writing   {place} cannot be written by you" in report.stdout
    assert "is open to others than its owner (644)" in report.stdout
    path.chmod(0)
    assert f"fail  journal   {path} cannot be read by you" in started("doctor", "--db", path).stdout
    place.chmod(0o755)


def test_a_directory_is_no_journal_and_nothing_is_left_beside_it(place):
    (place.path / "folder").mkdir()
    plan = place.plan("perdure: 1\nsteps: [{id: a, tool: flow.echo, with: {value: 1}}]\n")
    before = set(place.path.iterdir())
    done = place.perdure("run", plan, "--db", place.path / "folder")
    assert "PRD2104" in done.stderr
    assert set(place.path.iterdir()) == before
