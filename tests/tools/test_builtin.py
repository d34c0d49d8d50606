"""The built-in tools, by table."""

import asyncio

import pytest

from perdure.tools import BUILTIN, ToolPerformer

PERFORMER = ToolPerformer(BUILTIN)
NESTED = {"items": [{"name": "a", "n": 2}, {"name": "b", "n": 1}], "a.b": 1}


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        ("flow.echo", {"value": {"a": [1, None, 2.5]}}, {"a": [1, None, 2.5]}),
        ("json.format", {"value": {"é": [1]}}, '{"é": [1]}'),
        ("json.format", {"value": [1], "indent": 2}, "[\n  1\n]"),
        ("json.get", {"value": NESTED, "path": "items.1.name"}, "b"),
        ("json.get", {"value": NESTED, "path": "items[1].name"}, "b"),
        ("json.get", {"value": [[5]], "path": "[0][0]"}, 5),
        ("json.length", {"value": [1, 2]}, 2),
        ("json.length", {"value": {"a": 1}}, 1),
        ("json.length", {"value": "abc"}, 3),
        ("json.merge", {"values": [{"a": 1, "b": 1}, {"b": 2}]}, {"a": 1, "b": 2}),
        ("json.merge", {"values": []}, {}),
        ("json.parse", {"text": ' {"a": [1, 2.5, null]} '}, {"a": [1, 2.5, None]}),
        ("json.pick", {"value": {"a": 1, "b": 2}, "keys": ["b", "c"]}, {"b": 2}),
        ("json.sort", {"items": [3, 1.5, 2]}, [1.5, 2, 3]),
        ("json.sort", {"items": NESTED["items"], "by": "n"}, NESTED["items"][::-1]),
        ("text.join", {"parts": ["a", "b"], "by": ", "}, "a, b"),
        ("text.join", {"parts": []}, ""),
        ("text.lines", {"text": "a\nb\r\n"}, ["a", "b"]),
        ("text.lower", {"text": "AÉ"}, "aé"),
        ("text.replace", {"text": "a.a", "old": ".", "new": "-"}, "a-a"),
        ("text.split", {"text": "a, b", "by": ", "}, ["a", "b"]),
        ("text.split", {"text": " a  b "}, ["a", "b"]),
        ("text.trim", {"text": " a\n"}, "a"),
        ("text.truncate", {"text": "abcdef", "length": 3}, "ab…"),
        ("text.truncate", {"text": "abc", "length": 3}, "abc"),
        ("text.upper", {"text": "aé"}, "AÉ"),
        ("text.words", {"text": " one two\nthree "}, 3),
        ("time.sleep", {"seconds": 0}, 0),
        ("time.sleep", {"seconds": 0.01}, 0.01),
    ],
)
async def test_it_gives(name, arguments, output, an_attempt):
    outcome = await PERFORMER.perform(an_attempt(name, arguments))
    assert outcome.failure is None
    assert outcome.output == output


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "word"),
    [
        ("flow.fail", {}, "unknown", "failed"),
        ("flow.fail", {"message": "no", "kind": "denied"}, "denied", "no"),
        ("flow.fail", {"kind": "other"}, "invalid", "kind"),
        ("json.get", {"value": NESTED, "path": "items.2"}, "invalid", "it is a list of 2"),
        ("json.get", {"value": NESTED, "path": "item.2"}, "invalid", "there are: items, a.b"),
        ("json.get", {"value": 5, "path": "a"}, "invalid", "single value"),
        ("json.get", {"value": {}, "path": ""}, "invalid", "empty object"),
        ("json.length", {"value": 5}, "invalid", "value"),
        ("json.parse", {"text": "{'a': 1}"}, "invalid", "line 1"),
        ("json.parse", {"text": "NaN"}, "invalid", "not JSON"),
        ("json.parse", {"text": "[" * 100_000}, "invalid", "not JSON"),
        ("json.sort", {"items": [1, "a"]}, "invalid", "order"),
        ("json.sort", {"items": [{"a": 1}], "by": "b"}, "invalid", '"b"'),
        ("text.replace", {"text": "a", "old": "", "new": "b"}, "invalid", "old"),
        ("text.replace", {"text": "a" * 10_000, "old": "a", "new": "b" * 10_000}, "invalid", "1,000,000"),
        ("text.join", {"parts": ["a"] * 2_000, "by": "b" * 10_000}, "invalid", "1,000,000"),
        ("text.upper", {"text": "a" * 1_000_001}, "invalid", "text"),
        ("text.truncate", {"text": "a", "length": 0}, "invalid", "length"),
        ("time.sleep", {"seconds": -1}, "invalid", "seconds"),
        ("time.sleep", {"seconds": 1e9}, "invalid", "seconds"),
    ],
)
async def test_it_fails(name, arguments, kind, word, an_attempt):
    outcome = await PERFORMER.perform(an_attempt(name, arguments))
    assert outcome.failure.kind == kind
    assert word in outcome.failure.message


async def test_sleep_tells_how_far_it_is_and_wakes_when_it_is_cancelled(an_attempt):
    task = asyncio.create_task(PERFORMER.perform(an_attempt("time.sleep", {"seconds": 600})))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [(fraction, _)] = an_attempt.heard
    assert 0 <= fraction < 0.01


@pytest.mark.parametrize("tool", BUILTIN, ids=lambda tool: tool.name)
def test_each_is_safe_quick_to_call_and_described(tool):
    assert tool.repeat == ("keyed" if tool.name == "memory.note" else "safe")
    assert tool.is_async
    assert tool.summary.endswith(".")
    assert tool.facts().inputs["additionalProperties"] is False
