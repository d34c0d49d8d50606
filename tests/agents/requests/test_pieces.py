"""X8: what could be a value in a request, found by its form."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.agents.requests.pieces import pieces_in, without


def found(request):
    return [(piece.kind, piece.text) for piece in pieces_in(request)]


@pytest.mark.parametrize(
    ("request_", "pieces"),
    [
        ('say "hello there" to `all`', [("text", "hello there"), ("text", "all")]),
        ("see https://example.com/a?b=c.", [("url", "https://example.com/a?b=c")]),
        ("(http://a.org/x)", [("url", "http://a.org/x")]),
        ("write to ada@example.org, please", [("email", "ada@example.org")]),
        ("on 2026-02-28 or 2026-02-30", [("date", "2026-02-28")]),
        ("at 2026-02-28T10:00:00Z", [("date", "2026-02-28T10:00:00Z")]),
        (
            "read notes.txt, src/app.py and /etc/hosts.",
            [("path", "notes.txt"), ("path", "src/app.py"), ("path", "/etc/hosts")],
        ),
        ('open "src/my-file.py"', [("path", "src/my-file.py")]),
        ("list docs/", [("path", "docs/")]),
        ("wait 5 seconds, then 2.5 more, then -3", [("number", "5"), ("number", "2.5"), ("number", "-3")]),
    ],
)
def test_x8_values_are_found_by_their_form(request_, pieces):
    assert found(request_) == pieces


@pytest.mark.parametrize(
    "request_",
    ["don't and won't", "e.g. this and/or that", "see example.com", "50% of 1,000", "version 1.2.3", "v2", "in Berlin"],
)
def test_what_only_looks_like_a_value_is_none(request_):
    assert found(request_) == []


@given(st.text(max_size=200))
def test_a_piece_stands_where_it_says_and_none_lies_in_another(request_):
    pieces = pieces_in(request_)
    assert all(request_[piece.start : piece.end] == piece.text for piece in pieces)
    ends = [place for piece in pieces for place in piece.outer]
    assert ends == sorted(ends)
    assert len(without(request_, pieces)) == len(request_)


@pytest.mark.parametrize(
    "letters", ["a-", "a@", "@", "“", '"', "a.", "/a", "a/", "1.", "a@a.", "x ", ".", "~/", "a://"]
)
def test_a_hostile_request_is_read_in_linear_time(letters):
    began = time.process_time()
    pieces_in(letters * 30_000 + "!")
    assert time.process_time() - began < 5
