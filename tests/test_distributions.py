"""The base install stays small."""

import re
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.lock"


def test_the_base_install_has_at_most_18_distributions():
    assert len(re.findall(r"^[a-z][\w.-]*==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)) <= 18
