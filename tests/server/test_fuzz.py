"""Requests that a machine makes up from the OpenAPI document: none breaks anything, and every answer is as documented."""

import asyncio
import threading
from contextlib import contextmanager

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served import ASK, SAY, WAIT, listening, serving

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ENDLESS = {"watch_events"}
"""What answers for as long as somebody listens."""
LAST = {"stop_everything"}
PLANS = [{"plan": SAY, "inputs": {"word": "tide"}}, {"plan": ASK}, {"plan": WAIT}]


@contextmanager
def a_server():
    """The address of a server, in a thread and an event loop of its own."""
    told, ready, over = [], threading.Event(), threading.Event()

    async def serve():
        async with serving({}) as client, listening(client.app) as url:
            told.append(url)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(120)
        yield told[0]
    finally:
        over.set()
        thread.join()


@pytest.mark.campaign("requests by lot, made from the OpenAPI document", "R19", of="operations", times=40)
def test_e16_no_request_breaks_anything_and_every_answer_is_as_documented(trials):
    with a_server() as url:
        found = [each.ok() for each in schemathesis.openapi.from_url(f"{url}/openapi.json").get_all_operations()]
        known = {each.definition.raw["operationId"]: each for each in found}
        chosen = sorted(known.keys() - ENDLESS, key=lambda name: (name in LAST, name))
        assert len(chosen) >= 40
        for number in trials(1):
            for name in chosen:
                attack(known[name], number, begun(url), 3 if trials.is_quick else 60)


def begun(url):
    """Some runs that nobody has stopped."""
    return [httpx2.post(f"{url}/v1/runs", json=each).json()["id"] for each in PLANS]


def attack(operation, number, runs, times):
    """Make requests of an operation: as they should be, and as they should not."""
    kinds = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    if not {"parameters", "requestBody"} & operation.definition.raw.keys():
        kinds, times = kinds[:1], 1

    @seed(number)
    @settings(
        max_examples=times, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.data())
    def asked(data):
        kind = data.draw(st.sampled_from(kinds))
        case = data.draw(operation.as_strategy(generation_mode=kind))
        if "run" in (case.path_parameters or {}) and data.draw(st.integers(0, 3)):
            case.path_parameters["run"] = data.draw(st.sampled_from([*runs, "@last"]))
        if isinstance(case.body, dict) and {"plan", "text"} & case.body.keys() and data.draw(st.booleans()):
            rest = {name: value for name, value in case.body.items() if name not in {"plan", "text", "goal", "inputs"}}
            case.body = {**rest, "plan": data.draw(st.sampled_from([SAY, ASK, WAIT]))}
        if "wait" in (case.query or {}):
            case.query["wait"] = 0.01  # else it is waited for
        case.call_and_validate(checks=CHECKS)

    asked()
