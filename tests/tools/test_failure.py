"""What came out of a tool that failed."""

import pytest

from perdure.core.calls import Failure
from perdure.tools import ToolFailure
from perdure.tools.failure import failure_of


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ToolFailure("denied", "no", 3, {"a": (1,)}), Failure("denied", "no", 3, {"a": [1]})),
        (ToolFailure("invalid", "no", float("nan"), float("nan")), Failure("invalid", "no", None, "nan")),
        (ToolFailure("invalid", "no", -1), Failure("invalid", "no")),
        (TimeoutError("slow"), Failure("timeout", "TimeoutError: slow")),
        (ConnectionResetError("gone"), Failure("transient", "ConnectionResetError: gone")),
        (ValueError(), Failure("unknown", "ValueError")),
        (SystemExit(3), Failure("unknown", "SystemExit: 3")),
        (KeyError("a"), Failure("unknown", "KeyError: 'a'")),
        (ValueError("half \ud800"), Failure("unknown", "ValueError: half \\ud800")),
        (UnprintableError(), Failure("unknown", "UnprintableError")),
    ],
)
def test_exceptions_become_failures(error, expected):
    assert failure_of(error) == expected


def test_a_long_message_is_cut():
    assert len(failure_of(ValueError("x" * 10**6)).message) == 2_000
    assert len(ToolFailure("invalid", "\ud800" * 5_000).failure.message) == 2_000


@pytest.mark.parametrize("kind", ["other", "nonsense"])
def test_there_are_no_other_kinds(kind):
    with pytest.raises(ValueError, match="rate_limited"):
        ToolFailure(kind, "no")
