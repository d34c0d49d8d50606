"""The demo: a refactoring of a repository, killed in the middle, resumed, and kept on a branch. No key, no network.

It is the same `perdure code` that anybody uses. Only the model is a script, which says what was written down before.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sandbox_here
from demo_answers import answers, refactor
from demo_repository import make

PERDURE = Path(sys.executable).with_name("perdure")
NEEDED = {"git": "git", "bwrap": "bubblewrap", "python3": "python3"}
"""Programs, and the packages that have them."""
MARK = "changed, on a copy of its own"
"""What is said when one of the edits that go on side by side is done."""
SHOWN = 12
"""Lines of the diff that are shown."""
BRANCH = "perdure/cents"
KEPT = Path(__file__).parents[1] / ".demo"
"""Where the journal of the last demo stays, to be looked at."""
PAGE = Path(__file__).parents[1] / "src" / "perdure" / "web" / "static" / "index.html"
TESTS = ("python3", "-m", "unittest", "discover", "-s", "tests", "-t", ".")


def main() -> None:
    """Tell the story, in a directory that is gone in the end."""
    began = time.monotonic()
    if missing := [package for program, package in NEEDED.items() if not shutil.which(program)]:
        packages = " ".join(missing)
        sys.exit(f"The demo needs {' and '.join(missing)}. Debian and Ubuntu: apt-get install {packages}")
    if lacking := sandbox_here.lacking():
        sys.exit(f"The demo needs the sandbox, which does not work here: {lacking}")
    with tempfile.TemporaryDirectory(prefix="perdure-demo-") as place:
        os.chdir(place)
        _story()
    say(f"\nThat took {time.monotonic() - began:.0f} seconds.")


def _story() -> None:
    os.environ |= {"PERDURE_DB": "runs.db", "PERDURE_MODEL": "script:answers.json", "GIT_PAGER": "cat"}
    os.environ |= {"XDG_CONFIG_HOME": str(Path("config").absolute())}  # nobody's own policy has a say in the story
    title("A small repository with a history: a dozen modules of a shop's till, and their tests.")
    make(Path("till"))
    show("git", "-C", "till", "log", "--oneline", "--reverse")
    title("The model is a SCRIPT that was written down beforehand: no key, no network. All else is real.")
    Path("answers.json").write_text(json.dumps(answers()), encoding="utf-8")
    _killed("perdure", "code", refactor()["goal"], "--repo", "till", "--branch", BRANCH, "--yes")
    title("Killed with SIGKILL, in the middle of the edits. Nobody could tidy up. It goes on where it stood:")
    _resumed("perdure", "resume", "@last")
    title("Was anything done twice? The journal has counted:")
    _count([json.loads(line) for line in heard("perdure", "logs", "@last", "--jsonl").splitlines()])
    title("Your files, your index and your branch are as they were. The work is on a branch, and takes one command:")
    show("git", "-C", "till", "status", "--short", "--branch")
    show("git", "-C", "till", "log", "--oneline", f"main..{BRANCH}")
    show("git", "-C", "till", "merge", "--quiet", BRANCH)
    show(*TESTS, cwd="till")
    _next()


# ------------------------------------------------------------------------------- the acts


def _killed(*command: str) -> None:
    """Begin, and kill the process when the first of the edits is done."""
    say_command(command)
    with subprocess.Popen(called(command), stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            say(line.rstrip())
            if MARK in line:
                os.kill(process.pid, signal.SIGKILL)
                return
    sys.exit(f"perdure code has ended with {process.returncode}, before there was anything to kill")


def _resumed(*command: str) -> None:
    """Go on, in lines on a terminal too, so that one can read them later; and the beginning of the diff."""
    say_command(command)
    with subprocess.Popen(called(command), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            say(line.rstrip())
        report = process.stdout.read() if process.stdout else ""
    if process.returncode:
        sys.exit(f"perdure resume has ended with {process.returncode}:\n{report}")
    say("\n".join(_cut(report.splitlines())))


def _cut(report: list[str]) -> Iterator[str]:
    """A report with the beginning of its diff."""
    diff = report.index("```diff") + 1 if "```diff" in report else len(report)
    end = report.index("```", diff) if "```" in report[diff:] else len(report)
    yield from report[: diff + SHOWN]
    if end > diff + SHOWN:
        yield "…"
    yield from report[max(end, diff + SHOWN) :]


def _count(facts: list[dict[str, Any]]) -> None:
    """Which attempts came to an end before the kill and after it, and whether any did so twice."""
    ended = [each for each in facts if each["type"] == "attempt_ended" and each["body"].get("deed", "do") == "do"]
    killed = next((each["seq"] for each in facts if each["type"] == "attempt_lost"), 0)
    lost = Counter(_visit(each) for each in facts if each["type"] == "attempt_lost")
    times = Counter(map(_visit, ended))
    before = sum(1 for each in ended if each["seq"] < killed)
    paid = [each for each in ended if each["body"].get("usage", {}).get("calls")]
    again = sum(many - 1 for many in times.values())
    say(f"{before:>5} attempts had come to their end when it was killed; {again} were made again")
    say(f"{len(lost):>5} were under way then; these were tried again, as their tools declare")
    if again:
        sys.exit("That must not be: what was finished was done again.")
    say(f"{len(ended):>5} in all, of {len(times)} visits of steps: each was finished once")
    lost_calls = len(lost.keys() & set(map(_visit, paid)))
    once = f"once, {lost_calls} under way twice" if lost_calls else "once"
    cost = f"{_sum(paid, 'tokens'):,.0f} tokens, {_sum(paid, 'usd'):.2f} USD for a script"
    say(f"{len(paid):>5} calls of the model, each paid for {once}: {cost}")


def _visit(fact: dict[str, Any]) -> tuple[str, int]:
    return fact["body"]["step"], fact["body"].get("visit", 1)


def _sum(paid: list[dict[str, Any]], unit: str) -> float:
    return sum(each["body"]["usage"].get(unit) or 0 for each in paid)


def _next() -> None:
    perdure = os.path.relpath(PERDURE, os.environ.get("PWD", "."))
    title("Next, in a repository of your own:")
    say(f"  {perdure} code 'Rename the class Order to Purchase' --dry-run")
    say("      shows the plan, what tests it and what it may take; no model is asked")
    say(f"  PERDURE_MODEL=script:answers.yaml {perdure} code '…'")
    say("      without a model: plays by answers that you have written (docs/tutorial/kill_9.md)")
    say(f"  PERDURE_MODEL=anthropic:claude-sonnet-5-5 {perdure} code '…'")
    say("      with one: set ANTHROPIC_API_KEY, or see docs/guides/models.md for others")
    title("Or look at what you have just seen in a browser, step by step and at any moment of it:")
    built, kept = "" if PAGE.is_file() else "make page && ", _kept()
    say(f"  {built}{perdure} serve --db {kept}")
    say(f"      and beside it, for the link: {perdure} open --db {kept}")


def _kept() -> str:
    """The journal, kept where it is not gone in the end; as it is named from where the demo was begun."""
    shutil.rmtree(KEPT, ignore_errors=True)
    shutil.copytree(Path(), KEPT, ignore=lambda _, names: [each for each in names if not each.startswith("runs.db")])
    return os.path.relpath(KEPT / "runs.db", os.environ.get("PWD", "."))


# ------------------------------------------------------------------------------- the stage


def called(command: tuple[str, ...]) -> list[str]:
    """A command as it is really called: by this very Perdure."""
    return [str(PERDURE) if word == "perdure" else word for word in command]


def heard(*command: str) -> str:
    """What a command says."""
    return subprocess.run(called(command), capture_output=True, text=True, check=True).stdout


def show(*command: str, cwd: str | None = None) -> None:
    """Call it, with everything that it says in view."""
    say_command(command, cwd)
    subprocess.run(called(command), check=True, cwd=cwd, stderr=subprocess.STDOUT)


def say(words: str) -> None:
    """Say it at once."""
    print(words, flush=True)


def title(words: str) -> None:
    """Say what comes."""
    say(f"\n{styled(words, 1)}")


def say_command(command: tuple[str, ...], cwd: str | None = None) -> None:
    """Say what is called."""
    where = f"cd {cwd} && " if cwd else ""
    say(styled(f"$ {where}{shlex.join(command)}", 2))


def styled(words: str, style: int) -> str:
    """Bold or pale, where that can be seen."""
    return f"\033[{style}m{words}\033[0m" if sys.stdout.isatty() else words


if __name__ == "__main__":
    main()
