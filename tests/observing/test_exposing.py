"""E11: metrics as Prometheus reads them."""

import json
import re
import shutil
import subprocess
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from prometheus_client.parser import text_string_to_metric_families
from runs import until
from told import NAMES, golden

from perdure.observing.counts import Counts
from perdure.observing.dashboard import dashboard
from perdure.observing.exposing import Exposition, Standing, names
from perdure.observing.folding import Fold
from perdure.observing.live import LIVE
from perdure.observing.metrics import METRICS, count

ROOT = Path(__file__).parents[2]


async def told():
    counts = Counts()
    for name in NAMES:
        journal, entries = await golden(name)
        count(counts, Fold(journal.fetch).take(name, entries))
    exposition = Exposition()
    exposition.committed(0.002)
    return counts, exposition.text(Standing(counts, {"waiting": 2}, 3)).decode()


async def test_e11_all_that_is_counted_is_told():
    counts, text = await told()
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    for metric in METRICS.values():
        for labels, amount in counts.of(metric):
            assert found[f"perdure_{metric.name}_total", tuple(sorted(labels.items()))] == amount
        for labels, sizes in counts.sizes(metric):
            assert found[f"perdure_{metric.name}_count", tuple(sorted(labels.items()))] == sizes.count
            last = tuple(sorted({**labels, "le": "+Inf"}.items()))
            assert found[f"perdure_{metric.name}_bucket", last] == sizes.count
    assert found["perdure_open_runs", (("status", "waiting"),)] == 2
    assert found["perdure_waiting_approvals", ()] == 3
    assert found["perdure_journal_commit_seconds_count", ()] == 1
    assert {name for name, _ in found if not name.endswith("_created")} <= names()


async def test_e11_no_run_is_named():
    _, text = await told()
    assert "r_golden" not in text
    assert re.search(r'\b(run|step|question|session)="', text) is None


def test_nothing_is_told_of_facts_before_all_are_counted():
    text = Exposition().text(Standing(None, {}, 0)).decode()
    assert "perdure_counted 0.0" in text
    assert "perdure_runs" not in text


def promtool(*words, **more):
    command = [shutil.which("promtool"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


@pytest.mark.usefixtures("of_prometheus")
async def test_e11_promtool_finds_nothing_wrong():
    _, text = await told()
    done = promtool("check", "metrics", input=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@contextmanager
def exposed(text):
    """A server that tells it, as the one of an app does."""

    class Telling(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Telling) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def asked(port, query):
    from urllib.parse import urlencode

    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{urlencode({'query': query})}") as answer:
        return json.load(answer)["data"]["result"]


@pytest.mark.usefixtures("of_prometheus")
async def test_e11_a_real_prometheus_reads_it(tmp_path):
    counts, text = await told()
    expected = counts.total(METRICS["runs"], status="succeeded")
    with exposed(text) as port, prometheus(tmp_path, port) as at:
        found = until(lambda: asked(at, 'perdure_runs_total{status="succeeded"}'), "a look at the metrics")
        assert float(found[0]["value"][1]) == expected
        [p90] = asked(at, "histogram_quantile(0.9, sum by (le) (perdure_plan_steps_bucket))")
        assert float(p90["value"][1]) > 0


def is_ready(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready"):
            return True
    except OSError:
        return False


@contextmanager
def prometheus(place, port):
    """A Prometheus that reads from a port, and where it answers itself."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    scrape = {"job_name": "perdure", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}
    (place / "prometheus.yml").write_text(json.dumps(config))
    process = subprocess.Popen(
        [shutil.which("prometheus"), f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data",
         f"--web.listen-address=127.0.0.1:{own}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until(lambda: process.poll() is not None or is_ready(own), "Prometheus")
        yield own
    finally:
        process.kill()
        process.wait()


def queries(panels):
    for panel in panels:
        yield from (each["expr"] for each in panel.get("targets", ()))
        yield from queries(panel.get("panels", ()))


def test_x9_each_query_of_the_dashboard_names_what_is_told():
    found = [*queries(json.loads(dashboard())["panels"])]
    assert len(found) > 15
    known = names()
    used = set()
    for query in found:
        series = set(re.findall(r"\bperdure_\w+", query))
        assert series, query
        assert series <= known, query
        used |= series
    for metric in ("runs", "steps", "retries", "revisions", "tokens", "cost_usd", "failures"):
        assert f"perdure_{metric}_total" in used


@pytest.mark.usefixtures("of_prometheus")
def test_x9_prometheus_understands_each_query(tmp_path):
    rules = [
        {"record": f"r{n}", "expr": query.replace("$__rate_interval", "5m").replace("$__range", "1h")}
        for n, query in enumerate(queries(json.loads(dashboard())["panels"]))
    ]
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = promtool("check", "rules", tmp_path / "rules.yml")
    assert done.returncode == 0, done.stderr


def test_what_is_live_is_told_apart():
    assert {each.name for each in LIVE}.isdisjoint(METRICS)
