"""T2: what a way of working takes beside the goal is given on the command line, or refused there."""

import json

import pytest
from repositories.project import project


@pytest.fixture
def repo(tmp_path):
    return project(tmp_path / "project")


def code(perdure, repo, *words):
    return perdure(
        "code",
        "Fix the typo",
        "--repo",
        str(repo),
        "--template",
        "linear",
        "--db",
        str(repo.parent / "runs.db"),
        *words,
    )


def test_t2_refinement_is_enabled_by_an_option(perdure, repo, tmp_path):
    script = tmp_path / "script.json"
    text = "# calc\n\nAdds and takes away.\n"
    answers = {
        "Say what has to be done": {"summary": "Mend the README", "files": ["README.md"]},
        "Give the whole text": {"files": [{"path": "README.md", "text": text}]},
    }
    script.write_text(json.dumps(answers))
    done = code(perdure, repo, "--yes", "--model", f"script:{script}", "-i", "refine=true")
    assert done.returncode == 0, done.stderr
    assert "improve  over" in done.stderr
    assert "Mend the README" in done.stdout


@pytest.mark.parametrize(
    ("pair", "words"), [("refin=true", ["refin", "refine"]), ("refine=perhaps", ["boolean"]), ("x", ["name=value"])]
)
def test_what_a_way_does_not_take_is_refused_before_anything_is_done(perdure, repo, pair, words):
    done = code(perdure, repo, "--dry-run", "-i", pair)
    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr
