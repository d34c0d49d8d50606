"""Values against schemas: sentences with a place, nothing fetched, no endless work."""

import socket
import subprocess
import sys
import threading

import pytest

from perdure.plan.conforming import DEEPEST, MOST_READY, flaws

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ({"name": "Ada"}, PERSON, []),
        (5, {}, []),
        ({"name": 5}, PERSON, ['inputs.name: 5 is not of type "string"']),
        ({"name": "Ada", "tags": ["a", 1]}, PERSON, ['inputs.tags[1]: 1 is not of type "string"']),
        ({}, PERSON, ['inputs: "name" is a required property']),
        ({"name": "", "x": 1}, PERSON, ["inputs: Additional properties are not allowed ('x' was unexpected)"]),
        ("abc", {"pattern": "^b"}, ['inputs: "abc" does not match "^b"']),
        ([1], {"items": {"$ref": "#/$defs/text"}, "$defs": {"text": {"type": "string"}}}, ['inputs[0]: 1 is not of type "string"']),
        ([[["x"]]], {"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}, "type": "array"}]}, []),
        ({"a": 1}, {"properties": {"a": {"$ref": "#/x~1y/0"}}, "x/y": [{"type": "null"}]}, ['inputs.a: 1 is not of type "null"']),
        (10**30, {"type": "integer"}, []),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(value, schema, expected):
    assert flaws(value, schema, place=("inputs",)) == expected


def test_without_a_place_the_sentence_stands_alone():
    assert flaws(5, {"type": "string"}) == ['5 is not of type "string"']
    assert flaws({"a": 5}, {"properties": {"a": {"type": "string"}}}) == ['a: 5 is not of type "string"']


def test_no_more_than_asked_for_and_none_is_long():
    many = flaws(["x" * 10_000] * 50, {"items": {"type": "integer"}}, most=3)
    assert len(many) == 3
    assert max(map(len, many)) <= 300


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "strin"}, "strin"),
        ({"minimum": "x"}, "minimum"),
        ({"pattern": "(a{1000}){1000}{1000}"}, "pattern"),
        ({"pattern": "(?=a)b"}, "pattern"),
        ({"$ref": "#/$defs/missing"}, "#/$defs/missing"),
        ({"properties": {"a": {"$ref": 5}}, "x": {"$ref": "#"}}, "not of type"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$id": "x", "$ref": "#/$defs/b"}}}, "$id"),
        ({"$dynamicRef": "#a", "$dynamicAnchor": "a"}, "$dynamicRef"),
        ({"x": object()}, "Unsupported type"),
    ],
)
def test_a_bad_schema_is_a_flaw(schema, word):
    [flaw] = flaws({}, schema, place=("form",))
    assert flaw.startswith("form: the schema cannot be used")
    assert word in flaw


@pytest.mark.parametrize("value", [{1, 2}, {1: 2}, "\ud800", object()])
def test_what_is_not_json_is_a_flaw(value):
    [flaw] = flaws({"a": value}, {"properties": {"a": {"type": "integer"}}})
    assert "not JSON" in flaw


@pytest.fixture
def visits():
    """A server that notes who comes."""
    came = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)

        def listen():
            try:
                while True:
                    came.append(server.accept())
            except OSError:
                return

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], came
        thread.join()


def test_nothing_is_fetched(visits, tmp_path):
    port, came = visits
    (tmp_path / "any.json").write_text("{}")
    for uri in (f"http://127.0.0.1:{port}/x", (tmp_path / "any.json").as_uri(), "any.json", "//127.0.0.1/x"):
        for schema in (
            {"$ref": uri},
            {"properties": {"a": {"$ref": uri}}},
            {"$id": uri, "$ref": "other.json"},
            {"$schema": uri, "$ref": uri},
        ):
            [flaw] = flaws({"a": 1}, schema)
            assert "cannot be used" in flaw, schema
    assert came == []


def doubling(depth):
    """2^depth looks at the same value."""
    parts = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(depth)}
    return {"$ref": "#/$defs/a0", "$defs": {**parts, f"a{depth}": {}}}


def test_work_without_end_is_refused():
    assert flaws("x", doubling(5)) == []
    assert "looks" in flaws("x", doubling(60))[0]
    assert "looks" in flaws("x", {"allOf": [{"$ref": "#"}]})[0]
    twice = {"properties": {"a": {"$ref": "#/$defs/t"}}}
    value = {"a": "x"}
    for _ in range(60):
        value = {"a": value}
    assert "looks" in flaws(value, {"$ref": "#/$defs/t", "$defs": {"t": {"allOf": [twice, twice]}}})[0]


@pytest.mark.parametrize("depth", [DEEPEST + 5, 100_000])
def test_depth_is_refused_in_values_and_schemas(depth):
    value, schema = [], {}
    for _ in range(depth):
        value, schema = [value], {"items": schema}
    assert "deep" in flaws(value, {"items": {"$ref": "#"}})[0]
    assert "deep" in flaws([], schema)[0]


def test_one_value_in_many_places_is_refused():
    value = ["x"]
    for _ in range(30):
        value = [value, value]
    assert "1,000,000" in flaws(value, {})[0]


def test_the_library_is_loaded_when_it_is_used():
    code = "import sys, perdure.plan.conforming as c; before = 'jsonschema_rs' in sys.modules; c.flaws(1, {}); print(before, 'jsonschema_rs' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_many_schemas_are_told_apart():
    """They are kept ready by what they are, never by where they happened to stand in memory."""
    for n in range(MOST_READY + 10):
        assert flaws(n, {"const": n}) == []
        assert flaws(n, {"const": n + 1}) != []
