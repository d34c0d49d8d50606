"""Records what the demo says into the README: `python3 scripts/demo_recording.py`; a test holds it against a real run.

What differs from run to run (times, ids, counts, which of the edits was the first) is left out of the comparison.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PART = re.compile(r"(<!-- recorded: demo -->\n```text\n)(.*?)(```\n<!-- end -->)", re.DOTALL)
FIRST, LAST = "$ perdure code", "Next, in a repository"
"""How the lines begin between which the README shows it."""
CUTS = (
    ("template refactor", "tests: all 53"),
    ("run r_", "cause: "),
    ("refinement: ", "tests: all 59"),
    ("quality: ", "the run succeeded"),
    ("run r_", "Was anything"),
    ("$ git -C till merge", ""),
)
"""What is in the lines from which on, and up to which, nothing is shown; in their order, and the last to the end."""
VARIES = (
    (re.compile(r"\br_[0-9a-z]{26}\b"), "r_…"),
    (re.compile(r"^\d\d:\d\d:\d\d"), "…"),
    (re.compile(r"^[0-9a-f]{7}(?= )|(?<=committed )[0-9a-f]{10}"), "…"),
    (re.compile(r"^ *\d+ (?=attempts|were under|in all)"), "N "),
    (re.compile(r", \d under way twice"), ""),
    (re.compile(r"of \d+ visits|\d\d,\d{3} tokens|in \d+\.\d+s"), "N"),
)
"""What is another one each time."""
CHANCE = ("its process is gone", "changed, on a copy of its own")
"""What was under way when the process was killed, and what it had done and could not say any more."""


def played() -> str:
    """What the demo says, all of it."""
    script = [sys.executable, str(ROOT / "scripts" / "demo.py")]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise RuntimeError(f"the demo has ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def excerpt(said: str) -> str:
    """What the README shows of it."""
    lines = dropwhile(lambda line: not line.startswith(FIRST), said.splitlines())
    shown = [*_cut(takewhile(lambda line: not line.startswith(LAST), lines))]
    return "\n".join(shown).rstrip() + "\n"


def _cut(lines: Iterator[str]) -> Iterator[str]:
    for begin, end in CUTS:
        yield from takewhile(lambda line, begin=begin: begin not in line, lines)
        yield "…"
        shown = next((line for line in lines if end and end in line), "")
        yield from ("", shown) if shown.startswith("Was") else (shown,) if shown else ()


def same(shown: str) -> list[str]:
    """The lines that are the same each time; not their order, because changes are made side by side."""
    lines = (line for line in shown.splitlines() if not any(words in line for words in CHANCE))
    return sorted(_plain(line) for line in lines)


def _plain(line: str) -> str:
    for pattern, instead in VARIES:
        line = pattern.sub(instead, line)
    return line


def recorded() -> str:
    """What the README shows now."""
    found = PART.search(README.read_text(encoding="utf-8"))
    return found[2] if found else ""


def main() -> None:
    """Play it, and write it down unless the README says the same already."""
    shown = excerpt(played())
    if same(shown) == same(recorded()):
        print("README.md shows it as it is")
        return
    text = README.read_text(encoding="utf-8")
    README.write_text(PART.sub(lambda found: found[1] + shown + found[3], text), encoding="utf-8")
    print("wrote README.md")


if __name__ == "__main__":
    main()
