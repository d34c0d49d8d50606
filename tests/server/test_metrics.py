"""E11 X9: numbers over HTTP."""

import pytest
from prometheus_client.parser import text_string_to_metric_families
from served import begun, serving

ASK = {"steps": [{"id": "sure", "ask": "Sure?"}]}

pytestmark = pytest.mark.anyio


def samples(text):
    return {
        (each.name, *sorted(each.labels.values())): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }


async def test_e11_metrics_are_told_to_prometheus():
    async with serving() as client:
        before = samples((await client.get("/metrics")).text)
        assert before["perdure_counted",] == 1
        await begun(client)
        answer = await client.get("/metrics")
        found = samples(answer.text)
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert found["perdure_runs_total", "succeeded"] == 1
        assert found["perdure_steps_total", "flow.echo", "success"] == 1
        assert found["perdure_waiting_approvals",] == 0
        await begun(client, ASK)
        later = samples((await client.get("/metrics")).text)
        assert later["perdure_waiting_approvals",] == 1
        assert later["perdure_open_runs", "waiting"] == 1
        assert later["perdure_runs_started_total", "person"] == 2
