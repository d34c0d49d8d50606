"""A1: how much there is to a request, and of which parts it is made."""

import pytest

from perdure.agents.requests.assessing import assess
from perdure.tools.builtin import BUILTIN, FILES

KNOWN = {each.name: each for each in (*BUILTIN, *FILES)}


@pytest.mark.parametrize(
    ("request_", "complexity", "why"),
    [
        ("Count the words of notes", "simple", "one tool does it"),
        ("Read notes.txt and count the words", "compound", "it has 2 parts"),
        ("Prove the theorem", "compound", "no tool fits it"),
        ("Prove it, paint it and bake it", "large", "3 of its 3 parts fit no tool"),
        ("Read a.txt, read b.txt, read c.txt, read d.txt, read e.txt, read f.txt", "large", "it has 6 parts"),
        ("", "compound", "no tool fits it"),
    ],
)
def test_a1_how_much_there_is_to_a_request(request_, complexity, why):
    found = assess(request_, KNOWN)
    assert (found.complexity, found.why) == (complexity, why)


def test_a1_a_request_is_taken_apart_with_a_tool_for_each_part():
    found = assess("Read notes.txt, count the words and translate it", KNOWN)
    assert found.parts == ("Read notes.txt", "count the words", "translate it")
    assert found.tools == ("files.read", "text.words")
    assert found.unclear == ("translate it",)
