"""E11: traces reach a collector, each span once, and whoever cannot be reached harms no run."""

import asyncio
import socket
import time

import pytest
from otlp import about, receiving
from runs import ASK, FAIL, HELLO, Place, until

from perdure import Engine, Plan
from perdure.cli.observing import copied_in
from perdure.observing.place import Place as Noted
from perdure.observing.sending import Collector
from perdure.observing.tracing import traced

WAIT = """
perdure: 1
name: waiting
steps:
  - {id: quick, tool: deed.write, with: {name: one}}
  - {id: slow, tool: deed.wait, with: {name: two}}
  - {id: last, tool: deed.write, with: {name: three}}
"""
PLAN = Plan.model_validate({"name": "echo", "steps": [{"id": "a", "tool": "flow.echo", "with": {"value": "tide"}}]})


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def collector():
    with receiving() as receiver:
        yield receiver


def names(receiver):
    return sorted(span.name for span in receiver.spans.values())


def test_e11_a_run_of_the_command_line_is_traced(place, collector):
    place.run(HELLO, "-i", "name=Ada", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert names(collector) == ["execute_tool flow.echo", "invoke_workflow plan"]
    [call] = collector.named("execute_tool flow.echo")
    [run] = collector.named("invoke_workflow plan")
    assert call.parent_span_id == run.span_id
    assert about(call)["gen_ai.tool.name"] == "flow.echo"
    [resource] = {
        each.value.string_value
        for each in collector.requests[0].resource_spans[0].resource.attributes
        if each.key == "service.name"
    }
    assert resource == "perdure"


def test_e11_a_setting_names_the_collector_too(place, collector):
    place.run(FAIL, code=1, PERDURE_TRACES__ENDPOINT=collector.url)
    [failed] = collector.named("execute_tool flow.fail")
    assert about(failed)["error.type"] == "logic"
    assert failed.status.code == 2


def test_e11_a_replay_tells_nothing(place, collector):
    place.run(HELLO, "-i", "name=Ada", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    before = len(collector.all)
    for words in (["replay"], ["show"], ["logs"], ["replay", "--decide"]):
        place.do(words[0], "@last", *words[1:], OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert len(collector.all) == before


def test_e11_a_run_that_waits_is_told_as_it_rests_and_goes_on_linked(place, collector):
    place.run(ASK, code=4, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    [first] = collector.named("invoke_workflow plan")
    place.do("approve", "@last", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    place.do("resume", "@last", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    runs = sorted(collector.named("invoke_workflow plan"), key=lambda span: span.start_time_unix_nano)
    assert len(runs) >= 2
    assert {span.trace_id for span in collector.all} == {first.trace_id}
    assert runs[1].links[0].span_id == first.span_id
    assert len(collector.all) == len(collector.spans), "none came twice"


def test_e11_after_a_kill_no_span_is_lost_and_none_is_doubled(place, collector):
    with place.going(
        "run",
        place.plan(WAIT),
        "--tools",
        "deeds:write",
        "--tools",
        "deeds:wait",
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
    ) as going:
        until(lambda: "begun two" in place.deeds(), "the slow step")
        until(lambda: collector.named("execute_tool deed.write"), "the span of the quick one")
        going.kill()
    place.let("two")
    place.do(
        "resume", "@last", "--tools", "deeds:write", "--tools", "deeds:wait", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
    )
    tries = sorted(
        (about(span)["perdure.step.id"], about(span)["perdure.exit"])
        for span in collector.spans.values()
        if "perdure.exit" in about(span)
    )
    assert tries == [("last", "success"), ("quick", "success"), ("slow", "lost"), ("slow", "success")]
    rests = sorted(about(span)["perdure.rest"] for span in collector.named("invoke_workflow waiting"))
    assert rests == ["lost", "rested"]
    ids = set(collector.spans)
    assert {span.parent_span_id for span in collector.spans.values()} - {b""} <= ids


@pytest.mark.parametrize(("said", "is_shown"), [("", False), ("true", True)])
def test_e11_content_is_shown_only_where_somebody_says_so(place, collector, said, is_shown):
    place.run(
        HELLO,
        "-i",
        "name=Ada",
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=said,
    )
    [call] = collector.named("execute_tool flow.echo")
    assert ("gen_ai.tool.call.result" in about(call)) is is_shown
    assert ("Ada" in str(call)) is is_shown


# ------------------------------------------------------------------------------- collectors that are no use


class Deaf:
    """Takes nothing until it is told to, or holds whoever calls."""

    def __init__(self, hold=0.0):
        self.hold, self.taken, self.asked, self.hears = hold, [], 0, False

    def take(self, spans):
        self.asked += 1
        time.sleep(self.hold)
        if self.hears:
            self.taken += [span for span, _ in spans]
        return self.hears

    def close(self):
        pass


async def test_e11_what_is_not_taken_is_sent_again_by_whoever_comes_next(tmp_path):
    deaf, hearing, place = Deaf(), Deaf(), tmp_path / "traced.json"
    hearing.hears = True
    async with Engine.open() as engine:
        async with traced(engine.journal, copied_in, Noted(place), deaf):
            assert (await (await engine.start(PLAN)).result()).ok
            await asyncio.to_thread(until, lambda: deaf.asked, "somebody who sends")
        assert deaf.taken == []
        async with traced(engine.journal, copied_in, Noted(place), hearing):
            await (await engine.start(PLAN)).result()
        names = [span.name for span in hearing.taken]
        assert names.count("execute_tool flow.echo") == 2
        assert len({span.id for span in hearing.taken}) == len(hearing.taken)


async def test_e11_a_collector_that_holds_the_call_holds_up_nobody_who_leaves(tmp_path):
    holding = Deaf(hold=3600)
    place = Noted(tmp_path / "traced.json")
    async with Engine.open() as engine, traced(engine.journal, copied_in, place, holding, flush=0.1):
        assert (await (await engine.start(PLAN)).result()).ok


def test_e11_a_dead_collector_harms_no_run(place):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = place.run(HELLO, "-i", "name=Ada", OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}")
    assert place.shown()["status"] == "succeeded"
    assert "Traceback" not in done.stderr


async def test_what_was_there_before_the_first_trace_is_not_told(tmp_path):
    hearing = Deaf()
    hearing.hears = True
    async with Engine.open() as engine:
        await (await engine.start(PLAN)).result()
        async with traced(engine.journal, copied_in, Noted(tmp_path / "traced.json"), hearing):
            pass
    assert hearing.taken == []


async def test_e11_a_collector_that_refuses_is_told_of_once(caplog):
    from perdure.observing.spans import Span

    with receiving() as receiver:
        receiver.status = 400
        collector = Collector(receiver.url)
        span = Span(1, 2, 0, "x", 0, 1, {"perdure.run.id": "r_1"})
        for _ in range(2):
            assert not await asyncio.to_thread(collector.take, [(span, {})])
        receiver.status = 200
        assert await asyncio.to_thread(collector.take, [(span, {})])
        collector.close()
    assert len([each for each in caplog.records if each.name.startswith("perdure")]) == 1
    assert receiver.all[0].span_id == (2).to_bytes(8, "big")
