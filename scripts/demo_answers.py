"""Makes the script that stands for a model in the demo: `python3 scripts/demo_answers.py FILE`.

What it says is written down beforehand, in `examples/demo/refactor.yaml`: a plan that forgets a caller, the edits, what
the failing tests mean, and the repair. Which of it is said follows from what the script is asked.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

REFACTOR = Path(__file__).parents[1] / "examples" / "demo" / "refactor.yaml"


def refactor() -> dict[str, Any]:
    """The refactoring, as it is written down."""
    return yaml.safe_load(REFACTOR.read_text(encoding="utf-8"))


def answers() -> dict[str, Any]:
    """What is said, by words in the question; the first words that are there count."""
    told = refactor()
    changes, fix = told["changes"], told["fix"]
    return {
        "Divide this goal into changes": {"summary": "Keep money in whole cents", "changes": [*map(_planned, changes)]},
        "Tests fail after a change": _diagnosis(fix),
        "Mend what the tests have found": {"calls": _calls(fix)},
        "Review the change": {
            "verdict": "success",
            "answer": "Every amount is Money now, and nothing is left half changed.",
        },
        **{each["title"]: {"calls": _calls(each)} for each in changes},
        "": "It is done as the task says, and nothing else was touched.",
    }


def _planned(change: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": change["title"],
        "why": change["why"],
        "task": f"{change['title']}. {change['why']}",
        "files": change["files"],
    }


def _calls(change: Mapping[str, Any]) -> list[dict[str, Any]]:
    written = [{"tool": "files.write", "with": each} for each in change.get("write", ())]
    edits = change.get("edits")
    return [*written, *([{"tool": "files.edit", "with": {"edits": edits}}] if edits else ())]


def _diagnosis(fix: Mapping[str, Any]) -> dict[str, str]:
    return {
        "cause": fix["why"],
        "mend": f"{fix['title']}: {', '.join(fix['files'])}",
        "lesson": "Before a type changes, look for whoever uses its values, not only for whoever imports it.",
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(answers(), indent=1), encoding="utf-8")
