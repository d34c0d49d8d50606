"""`perdure code` on repositories of all sorts: each is worked on or refused with a sentence, and nothing in it runs.

The table says which is which. Whatever happens, the user's files, index, stash, HEAD and branches stay as they are.
"""

import re

import pytest
from code_tasks import script, shape
from git_shop import git
from program import perdure
from repositories import BUILDERS, contents, marks
from repositories.project import commit
from snapshots import difference, snapshot

DONE, REFUSED, NOT_FOUND, ASKED = 0, 1, 3, 4
WRITE = [{"id": "write", "tool": "files.write", "with": {"path": "new.py", "text": "new = 1\n"}}]
ENDS = {
    **dict.fromkeys(BUILDERS, DONE),
    **dict.fromkeys(["settings", "filters", "private_filters", "all_at_once", "borrowing"], ASKED),
    **dict.fromkeys(["included_settings", "broken", "bare", "separate", "astray", "linked"], REFUSED),
    **dict.fromkeys(["unborn", "no_git", "empty"], NOT_FOUND),
}
SAID = {
    "settings": "PRD5201: settings of the repository can run programs or reach elsewhere: alias.st",
    "filters": "filter.evil.clean",
    "private_filters": "filter.evil.clean",
    "all_at_once": "filter.evil.clean",
    "borrowing": "alternates",
    "included_settings": "PRD7002: …/project/.git/config has include.path, which takes settings from another file",
    "broken": "PRD7002: the files of HEAD are not all in …/project",
    "bare": "PRD7002: …/project is a repository without files to work on",
    "separate": "PRD7002: …/project/.git leads to …/project-kept.git: it is a submodule, or git's own files were put",
    "astray": "PRD7002: …/project/.git leads to …/nowhere.git, where nothing is",
    "linked": "PRD7002: …/project/.git is a link",
    "unborn": "PRD7003: …/project has no commit yet",
    "no_git": "PRD7001: …/project is in no git repository",
    "empty": "PRD7001: …/project is in no git repository",
    "odd_branch": "kept on:   perdure-sum-up-",
    "dirty": "left out:  your uncommitted changes in 3 files",
    "inner_directory": "(…) of …/project\n",
}
"""What is said of some of them."""
OURS = re.compile(r"\.git/(objects/|(logs/)?refs/heads/perdure|logs(/refs(/heads)?)?$)")
"""Where git keeps what a new branch is made of."""


class Yard:
    """A repository, and beside it a home and a journal, as somebody has them who calls the program."""

    def __init__(self, path, name):
        self.path, self.root = path, path / "yard"
        self.root.mkdir()
        (path / "home").mkdir()
        self.place = BUILDERS[name](self.root / "project")
        self.before = snapshot(self.root)
        (path / "way.yaml").write_text(shape(WRITE, []).canonical_json().decode())

    def do(self, *words, code=None, **more):
        done = perdure(*words, "--db", self.path / "runs.db", home=self.path / "home", cwd=self.path, **more)
        assert code is None or done.returncode == code, done.stderr
        return done

    def code(self, *words, **more):
        about = ("--repo", self.place, "--template", self.path / "way.yaml", "--yes")
        return self.do("code", "Sum up", *about, *words, **more)

    def assert_untouched(self, *, branch=False):
        """Nothing is another now, but that there may be a branch; and no program ran that waited for it."""
        changed = difference(self.before, snapshot(self.root))
        assert {path: how for path, how in changed.items() if not (branch and OURS.search(path))} == {}
        assert marks(self.root / "project") == set()


@pytest.fixture
def yard(tmp_path):
    return lambda name: Yard(tmp_path, name)


@pytest.mark.parametrize("words", [("--test", ""), ()], ids=["untested", "as its files tell"])
@pytest.mark.parametrize("name", BUILDERS)
def test_each_is_worked_on_or_refused_with_a_sentence_and_nothing_in_it_runs(yard, name, words):
    at = yard(name)
    done = at.code(*words)
    assert done.returncode == ENDS[name], done.stderr
    assert "Traceback" not in done.stderr
    if name in SAID:
        said = ".*".join(map(re.escape, SAID[name].split("…")))
        assert re.search(said, done.stderr), done.stderr
    at.assert_untouched(branch=ENDS[name] == DONE)
    if ENDS[name] == DONE:
        [branch] = git(at.place, "branch", "--list", "--format=%(refname)", "perdure/*", "perdure-*").splitlines()
        assert git(at.place, "diff", "--name-only", f"{branch}~1", branch) == "new.py"


# ------------------------------------------------------------------------------- what a person agrees to


@pytest.mark.parametrize("name", ["settings", "borrowing"])
def test_who_agrees_to_settings_has_the_work_done_and_still_nothing_runs(yard, name):
    at = yard(name)
    done = at.code("--test", "", code=ASKED)
    [approve] = re.findall(r"^  (perdure approve .*)$", done.stderr, re.MULTILINE)
    at.do(*approve.split()[1:4], code=0)
    at.do("resume", "@last", code=DONE)
    at.assert_untouched(branch=True)


def test_who_does_not_agree_has_a_repository_as_it_was(yard):
    at = yard("all_at_once")
    at.code("--test", "", code=ASKED)
    question = at.do("questions", "@last").stdout.split()
    at.do("reject", "@last", next(word for word in question if word.startswith("q_")), code=0)
    assert "Nothing was kept" in at.do("resume", "@last", code=REFUSED).stdout
    at.assert_untouched()


def test_tests_that_reach_for_the_repository_reach_nothing(yard):
    at = yard("reaching_tests")
    at.code("--test", "python3 -m unittest", code=DONE)
    at.assert_untouched(branch=True)


# ------------------------------------------------------------------------------- what a model is told

KEYS = {"server.pem": contents.TRACKED, "deploy/id_rsa": contents.TRACKED, "credentials.json": contents.TRACKED}
NOSY = {
    "Say what has to be done": {
        "calls": [
            {"tool": "files.search", "with": {"text": "canary"}},
            {"tool": "files.search", "with": {"text": "API_TOKEN"}},
            {"tool": "files.list", "with": {}},
        ]
    },
    "Give the whole text": {
        "calls": [{"tool": "shell.run", "with": {"command": ["sh", "-c", "cat .env* */id_rsa *.json"]}}]
    },
    "": {"summary": "Look", "files": []},
}


def test_a_model_is_told_no_secret_of_the_repository(yard):
    at = yard("secrets")
    commit(at.place, "Add keys", {name: f"{text}\n" for name, text in KEYS.items()})
    model = script(at.path / "nosy.json", NOSY)
    done = at.do("code", "Look", "--repo", at.place, "--template", "linear", "--yes", "--test", "", "--model", model)
    logs = at.do("logs", "@last", "--jsonl").stdout
    assert '"withheld":3' in logs.replace(" ", "")
    assert "deploy/id_rsa: Permission denied" in logs
    for text in (done.stdout, done.stderr, logs, *map(bytes_of, at.path.glob("runs.db*"))):
        assert contents.TRACKED not in text
        assert contents.UNTRACKED not in text


def test_who_wants_to_read_a_secret_has_to_ask_a_person(yard):
    at = yard("secrets")
    asks = {"": {"calls": [{"tool": "files.read", "with": {"path": ".env"}}]}}
    about = (
        "--repo",
        at.place,
        "--template",
        "linear",
        "--yes",
        "--test",
        "",
        "--model",
        script(at.path / "s.json", asks),
    )
    done = at.do("code", "Look", *about, code=ASKED)
    assert "wants to call files.read: read .env needs approval" in done.stderr
    assert contents.TRACKED not in at.do("logs", "@last", "--jsonl").stdout


def bytes_of(path):
    return path.read_bytes().decode("latin-1") if path.is_file() else ""
