"""How likely each choice was, from the log-probabilities of the tokens that were chosen and of those that were not.

Along the answer, every token that was not taken but would have led to a choice gives its share to that choice. What
leads to none is left out; the rest is scaled to one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_LEAST: Final = 1e-6
"""A smaller share of all says nothing about any choice."""


def chances_of(tokens: Sequence[Mapping[str, Any]], choices: Sequence[str], chosen: str) -> dict[str, float] | None:
    """The share of each choice; None if the tokens tell nothing."""
    begin = "".join(str(each.get("token", "")) for each in tokens).rfind(chosen)
    if begin < 0 or not choices:
        return None
    found = dict.fromkeys(choices, 0.0)
    for choice, share in _shares(tokens, choices, chosen, begin):
        found[choice] += share
    total = sum(found.values())
    return {choice: share / total for choice, share in found.items()} if total > _LEAST else None


def _shares(
    tokens: Sequence[Mapping[str, Any]], choices: Sequence[str], chosen: str, begin: int
) -> Iterator[tuple[str, float]]:
    said, so_far = "", 1.0
    for token in tokens:
        text = str(token.get("token", ""))
        if len(said) + len(text) > begin and len(said) < begin + len(chosen):
            before = said[begin:]
            for other, share in _others(token, text):
                yield from _spread(before + _after(other, begin - len(said)), so_far * share, choices, chosen)
            so_far *= _share(token)
        said += text
    yield chosen, so_far


def _others(token: Mapping[str, Any], taken: str) -> Iterator[tuple[str, float]]:
    for each in token.get("top_logprobs") or ():
        if str(each.get("token", "")) != taken:
            yield str(each.get("token", "")), _share(each)


def _after(text: str, ahead: int) -> str:
    """The part of a token that belongs to the choice: what stands before it is dropped."""
    return text[ahead:] if ahead > 0 else text


def _spread(said: str, share: float, choices: Sequence[str], chosen: str) -> Iterator[tuple[str, float]]:
    """Give a share to the choices that could have followed; the one that was taken is counted along its own way."""
    said = said.strip("\"'` ") if not said.strip("\"'` ").isspace() else ""
    likely = [each for each in choices if said and each != chosen and (each.startswith(said) or said.startswith(each))]
    for each in likely:
        yield each, share / len(likely)


def _share(token: Mapping[str, Any]) -> float:
    value = token.get("logprob")
    return math.exp(min(0.0, float(value))) if isinstance(value, (int, float)) else 0.0
