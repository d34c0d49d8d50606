"""E20: the README shows what the demo really says; and the demo tells the whole story (E22)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import demo_recording
import pytest

DEMO = Path(demo_recording.__file__).with_name("demo.py")


@pytest.fixture(scope="module")
def said():
    return demo_recording.played()


@pytest.mark.timeout(300)
def test_the_readme_shows_what_the_demo_says(said):
    assert demo_recording.recorded(), "README.md has no part for the demo"
    assert demo_recording.same(demo_recording.excerpt(said)) == demo_recording.same(demo_recording.recorded())


@pytest.mark.timeout(300)
def test_e22_the_demo_tells_the_story_in_order(said):
    beats = [
        "The model is a SCRIPT",
        "├── ▾ work",
        "planned 5 changes",
        "changed, on a copy of its own",
        "Killed with SIGKILL",
        "its process is gone",
        "brought in:",
        "broken now: tests.test_reports",
        "cause:",
        "learned:",
        "all 59 tests pass",
        "quality:",
        "## On branch perdure/cents",
        "## Tests",
        "```diff",
        "0 were made again",
        "each was finished once",
        "15 calls of the model, each paid for once",
        "Ran 59 tests",
        "--dry-run",
        "PERDURE_MODEL=script:",
        "PERDURE_MODEL=anthropic:",
    ]
    place = 0
    for beat in beats:
        place = said.find(beat, place)
        assert place != -1, beat


@pytest.mark.parametrize(("program", "package"), [("bwrap", "bubblewrap"), ("git", "git")])
def test_the_demo_says_what_is_missing(tmp_path, program, package):
    for each in {"git", "bwrap", "python3"} - {program}:
        (tmp_path / each).symlink_to(shutil.which(each))
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr == f"The demo needs {package}. Debian and Ubuntu: apt-get install {package}\n"
