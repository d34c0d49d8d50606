"""How an answer is told of: its fields by the sentences below them, and no others."""

from typing import Literal

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

told = with_config(ConfigDict(extra="forbid", use_attribute_docstrings=True))
Moment = str
"""ISO 8601, with its offset."""
Status = Literal["running", "waiting", "paused", "stopping", "succeeded", "failed", "cancelled", "rolled_back"]


@told
class Range(TypedDict):
    """How much of something runs take: half of them stay below `p50`, 90 of 100 below `p90`."""

    p50: float
    p90: float
    mean: float
