"""S8: whoever can write the journal can have a run refused, and never have code run: what is read is data, or nothing."""

import base64
import json
import pickle
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure import Engine, PerdureError, Plan
from perdure.core import events as e
from perdure.journal import SqliteJournal
from perdure.plan.model.recalling import recalled
from perdure.ports import Entry, Summary, Turn
from perdure.testing.contracts import an_artifact

pytestmark = pytest.mark.anyio
MODULE = "perdure_hostile_module"
PLAIN = (str, int, float, bool, type(None))


class Bomb:
    """Whoever brings it back to life writes a file."""

    def __init__(self, path=""):
        self.path = path

    def __reduce__(self):
        return (exec, (f"open({self.path!r}, 'w').close()",))


def payloads(mark="/nonexistent/mark"):
    """Bytes that some reader, somewhere, has taken for more than data."""
    bomb = pickle.dumps(Bomb(str(mark)))
    named = f"{MODULE}.Evil"
    values = {
        "lc": {"lc": 1, "type": "constructor", "id": [MODULE, "Evil"], "kwargs": {}},
        "lc secret": {"lc": 1, "type": "secret", "id": ["HOME"]},
        "jsonpickle": {"py/object": named, "py/reduce": [{"py/function": "os.system"}, {"py/tuple": ["true"]}]},
        "reduce": {"__reduce__": [named, []], "__class__": named, "__setstate__": {}},
        "dbos": {"py/type": named, "__dbos__": base64.b64encode(bomb).decode()},
        "type": {"$type": named, "@type": named, "_type": named, "__type__": named, "type": "run_started"},
        "prototype": {"__proto__": {"admin": True}, "constructor": {"prototype": {}}},
        "base64": base64.b64encode(bomb).decode(),
        "yaml": f"!!python/object/apply:{named} []",
        "template": "{{ ''.__class__.__mro__[1].__subclasses__() }} ${7*7} {0.__class__} %(a)s",
        "secret": {"data": "${secrets.TOKEN}", "secret": "TOKEN"},
        "value": {"data": {"data": {"sha256": "../../../etc/passwd"}}},
        "numbers": [1e308, -0.0, 2**70, -(2**70), 2**63],
        "half a pair": "\ud800",
    }
    found = {name: json.dumps(value).encode() for name, value in values.items()}
    deep = 100_000
    return {
        **found, "pickle": bomb, "pickle 0": pickle.dumps(Bomb(str(mark)), 0), "marshal": b"c\x00\x00\x00\x00", "msgpack": b"\xc7\x05\x05hello",
        "msgpack map": b"\x81\xa2lc\x01", "empty": b"", "null": b"null", "nan": b"[NaN,Infinity]", "mark": b"\xef\xbb\xbf{}",
        "lists": b"[" * deep + b"]" * deep, "objects": b'{"a":' * deep + b"1" + b"}" * deep, "half": b'{"step":',
        "twice": b'{"step":"a","step":"b"}', "nul": b'{"step":"\x00"}', "utf-16": '{"step":"a"}'.encode("utf-16"),
        "deep and half a pair": b'{"output":{"data":' + b"[" * deep + rb'"\ud800"' + b"]" * deep + b"}}",
    }  # fmt: skip


PAYLOADS = payloads()


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """A file that is there once something has been brought to life, and a module that would make it."""
    found = tmp_path / "mark"
    (tmp_path / f"{MODULE}.py").write_text(f"open({str(found)!r}, 'w').close()\nclass Evil: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield found
    assert not found.exists()
    assert MODULE not in sys.modules


def is_data(value):
    """Whether a value is made of plain data and our own records alone."""
    if isinstance(value, msgspec.Struct):
        assert type(value).__module__.startswith("perdure."), type(value)
        return all(is_data(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, (list, tuple)):
        return all(map(is_data, value))
    if isinstance(value, dict):
        return all(type(key) is str and is_data(each) for key, each in value.items())
    return type(value) in PLAIN


def read(type_, body):
    """What becomes of a body: an event, or nothing."""
    try:
        return e.decode(type_, body)
    except ValueError:
        return None


@pytest.mark.parametrize("name", PAYLOADS)
def test_s8_a_hostile_body_is_refused_or_is_data(mark, name):
    body = payloads(mark)[name]
    for type_ in [*e.EVENTS, "no_such_event", f"{MODULE}.Evil", "__class__"]:
        for each in (body, b'{"step":"a","visit":1,"attempt":1,"output":{"data":%b}}' % body):
            found = read(type_, each)
            assert found is None or (type(found) is e.EVENTS[type_] and is_data(found))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted({field.encode_name for kind in e.EVENTS.values() for field in msgspec.structs.fields(kind)})
BODIES = st.binary(max_size=60) | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8).map(
    lambda found: json.dumps(found).encode()
)


@given(st.sampled_from(sorted(e.EVENTS)), BODIES)
@settings(max_examples=600, deadline=None)
def test_s8_whatever_is_written_there_is_refused_or_is_data(type_, body):
    found = read(type_, body)
    assert found is None or (type(found) is e.EVENTS[type_] and is_data(found))


@given(
    st.binary(max_size=200)
    | JSON.map(lambda found: json.dumps(found).encode())
    | st.sampled_from(sorted(PAYLOADS.values()))
)
@settings(max_examples=300, deadline=None)
def test_s8_what_is_no_plan_is_not_taken_for_one(data):
    with pytest.raises(ValueError):  # noqa: PT011  whatever it says
        recalled(data)


# ------------------------------------------------------------------------------- with a chain that is right

ASK = Plan.model_validate({"steps": [{"id": "ask", "ask": "Go on?"}]})


async def begun(path):
    """Two runs that wait for an answer; the ids."""
    async with Engine.open(path) as engine:
        handles = [await engine.start(ASK) for _ in range(2)]
        for each in handles:
            while not await engine.journal.questions(each.id):
                await engine.journal.grown(each.id, 0, 60)
        return [each.id for each in handles]


async def forged(path, run, type_, body, artifacts=()):
    """A further turn, as somebody writes it who knows how the chain is made."""
    async with await SqliteJournal.open(path) as journal:
        head = (await journal.run(run)).head_seq
        entry = Entry(run, head + 1, type_, 1_800_000_000_000, body)
        await journal.append(Turn(run, head + 1, [entry], artifacts=list(artifacts), summary=Summary("running")))


@pytest.mark.parametrize("name", PAYLOADS)
async def test_s8_an_engine_refuses_the_run_and_goes_on_with_the_others(tmp_path, mark, name):
    path, body = tmp_path / "runs.db", payloads(mark)[name]
    bad, good = await begun(path)
    type_ = sorted(e.EVENTS)[len(body) % len(e.EVENTS)]
    await forged(path, bad, type_, body, [an_artifact(body or b"x")])
    async with Engine.open(path, resume=True, secrets={"TOKEN": "a long canary"}) as engine:
        with pytest.raises(PerdureError) as refusal:
            await engine.result(bad)
        assert refusal.value.code.startswith("PRD2")
        [question] = await engine.journal.questions(good)
        await engine.answer(good, question.id, True)
        assert (await engine.run(good).result()).ok


@pytest.mark.parametrize("name", PAYLOADS)
async def test_s8_a_run_whose_plan_was_replaced_is_refused(tmp_path, mark, name):
    path, body = tmp_path / "runs.db", payloads(mark)[name] or b"x"
    plan = an_artifact(body)
    started = json.dumps({"plan": plan.digest, "inputs": {"data": {}}, "goal": "", "seed": 1}).encode()
    async with await SqliteJournal.open(path) as journal:
        entry = Entry("r_forged", 1, "run_started", 1_800_000_000_000, started)
        await journal.append(Turn("r_forged", 1, [entry], artifacts=[plan], summary=Summary("running")))
    async with Engine.open(path, resume=True) as engine:
        with pytest.raises(PerdureError):
            await engine.result("r_forged")
        with pytest.raises(PerdureError):
            await engine.resume("r_forged")
