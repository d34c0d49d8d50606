"""Reads the facts of a run, as `perdure logs RUN --jsonl` prints them, and says what was done again."""

import json
import sys
from collections import Counter

facts = [json.loads(line) for line in sys.stdin]


def visits(kind):
    """How often there is such a fact, for each visit of a step."""
    about = (each["body"] for each in facts if each["type"] == kind)
    return Counter((body["step"], body.get("visit", 1)) for body in about)


begun_again = {visit for visit, times in visits("attempt_started").items() if times > 1}
print("begun again, though nobody was killed at it:", len(begun_again - visits("attempt_lost").keys()))
print("finished more than once:", sum(times > 1 for times in visits("attempt_ended").values()))
