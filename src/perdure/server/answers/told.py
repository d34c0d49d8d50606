"""How an answer is told of: its fields by the sentences below them, and no others."""

from typing import Literal

from pydantic import ConfigDict, with_config

told = with_config(ConfigDict(extra="forbid", use_attribute_docstrings=True))
Moment = str
"""ISO 8601, with its offset."""
Status = Literal["running", "waiting", "paused", "stopping", "succeeded", "failed", "cancelled", "rolled_back"]
