"""What came out of a tool that failed, as it was told."""

import pytest

from perdure.core.calls import Failure
from perdure.tools import ToolFailure
from perdure.tools.failure import failure_of


def plain(failure):
    return Failure(failure.kind, failure.message, failure.retry_after, failure.detail)


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ToolFailure("denied", "no", 3, {"a": (1,)}), Failure("denied", "no", 3, {"a": [1]})),
        (ToolFailure("invalid", "no", float("nan"), float("nan")), Failure("invalid", "no", None, "nan")),
        (ToolFailure("invalid", "no", -1), Failure("invalid", "no")),
        (ConnectionResetError("gone"), Failure("", "ConnectionResetError: gone")),
        (ValueError(), Failure("", "ValueError")),
        (SystemExit(3), Failure("", "SystemExit: 3")),
        (KeyError("a"), Failure("", "KeyError: 'a'")),
        (ValueError("half \ud800"), Failure("", "ValueError: half \\ud800")),
        (UnprintableError(), Failure("", "UnprintableError")),
    ],
)
def test_exceptions_become_failures(error, expected):
    assert plain(failure_of(error)) == expected


def test_a_long_message_is_cut():
    assert len(failure_of(ValueError("x" * 10**6)).message) == 2_000
    assert len(ToolFailure("invalid", "\ud800" * 5_000).failure.message) == 2_000


@pytest.mark.parametrize("kind", ["other", "nonsense"])
def test_there_are_no_other_kinds(kind):
    with pytest.raises(ValueError, match="rate_limited"):
        ToolFailure(kind, "no")
