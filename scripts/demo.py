"""The demo: a refactoring of a repository, killed in the middle, resumed, and kept on a branch. No key, no network.

It is the same `perdure code` that anybody uses. Only the model is a script, which says what was written down before.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from demo_answers import answers, refactor
from demo_repository import make

PERDURE = Path(sys.executable).with_name("perdure")
MISSING = "The demo needs git and bubblewrap: apt-get install git bubblewrap"


def main() -> None:
    """Tell the story."""
    if not (shutil.which("git") and shutil.which("bwrap")):
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory(prefix="perdure-demo-") as place:
        _story(Path(place))


def _story(place: Path) -> None:
    repo, script, goal = place / "till", place / "answers.json", refactor()["goal"]
    os.environ |= {"PERDURE_DB": str(place / "runs.db"), "PERDURE_MODEL": f"script:{script}"}
    title("A small repository, with a dozen modules, tests and a history:")
    make(repo)
    script.write_text(json.dumps(answers()), encoding="utf-8")
    show("git", "-C", repo, "log", "--oneline", "--reverse")
    title(
        "The model is a script that was written down beforehand: there is no key and no network here. The rest is real."
    )
    code = [PERDURE, "code", goal, "--repo", repo, "--branch", "perdure/cents", "--yes"]
    _killed(code, "edit  over")
    title("Killed with SIGKILL, in the middle of the edits. It goes on where it stood:")
    show(PERDURE, "resume", "@last")
    _count()
    title("Your files are as they were; the work is on a branch:")
    show("git", "-C", repo, "status", "--short", "--branch")
    show("git", "-C", repo, "log", "--oneline", "main..perdure/cents")
    _next()


def _killed(command: list[object], mark: str) -> None:
    """Begin, and kill the process with SIGKILL when a line with this mark has come."""
    say_command(command)
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            print(line, end="", flush=True)
            if mark in line:
                os.kill(process.pid, signal.SIGKILL)
                break


def _count() -> None:
    """What the journal says was done twice."""
    said = subprocess.run([PERDURE, "logs", "@last", "--jsonl"], capture_output=True, text=True, check=True).stdout
    facts = [json.loads(line) for line in said.splitlines()]
    ended = Counter(
        (each["body"]["step"], each["body"].get("visit", 1)) for each in facts if each["type"] == "step_ended"
    )
    title("From the journal:")
    print(f"{len(facts)} facts; {len(ended)} visits of steps came to their end, {_more(ended)} of them more than once")


def _more(counted: Counter[tuple[str, int]]) -> int:
    return sum(1 for times in counted.values() if times > 1)


def _next() -> None:
    title("What you can do next, in a repository of your own:")
    print("  perdure code 'Rename the class Order to Purchase' --dry-run        see the plan; no model is asked")
    print("  PERDURE_MODEL=script:answers.yaml perdure code '…'                 without a model: play by a script")
    print("  PERDURE_MODEL=anthropic:claude-sonnet-5-5 perdure code '…'         with one: docs/guides/models.md")


# ------------------------------------------------------------------------------- the stage


def title(words: str) -> None:
    """Say what comes."""
    print(f"\n\033[1m{words}\033[0m", flush=True)


def say_command(command: list[object]) -> None:
    """Say what is called."""
    print(f"\033[2m$ {' '.join(map(str, command))}\033[0m", flush=True)


def show(*command: object) -> None:
    """Call it, with everything that it says in view."""
    say_command(list(command))
    subprocess.run(list(map(str, command)), check=True)


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"\nThat took {time.monotonic() - began:.0f} seconds.")
