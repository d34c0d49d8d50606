"""Reads the facts of a run, as `perdure logs RUN --jsonl` prints them, and says what was done again."""

import json
import sys
from collections import Counter

facts = [json.loads(line) for line in sys.stdin]


def visits(kind: str) -> Counter[tuple[str, int]]:
    """How often there is such a fact, for each visit of a step."""
    about = (each["body"] for each in facts if each["type"] == kind)
    return Counter((body["step"], body.get("visit", 1)) for body in about)


begun = {visit for visit, times in visits("attempt_started").items() if times > 1}
again = len(begun - visits("attempt_lost").keys())
twice = sum(times > 1 for times in visits("attempt_ended").values())
sys.stdout.write(f"begun again, though nobody was killed at it: {again}\nfinished more than once: {twice}\n")
