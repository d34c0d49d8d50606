"""`perdure serve` at work, and a client of it."""

import json
import signal
from contextlib import contextmanager

import httpx2
from runs import until

SAY = {"plan": {"steps": [{"id": "a", "tool": "flow.echo", "with": {"value": 7}}], "output": "${steps.a.output}"}}


class Server:
    """A server at work, and a client of it."""

    def __init__(self, place, going, client):
        self.place, self.going, self.client = place, going, client

    def as_(self, *scopes):
        words = [word for scope in scopes for word in ("--scope", scope)]
        name = "-".join(scopes)
        key = self.place.do("keys", "new", name, *words).stdout.strip()
        self.client.headers["Authorization"] = f"Bearer {key}"
        return name

    def post(self, path, **body):
        headers = {"Content-Type": "application/json", **body.pop("headers", {})}
        return self.client.post(path, headers=headers, content=json.dumps(body))

    def ends(self, code=0, *, by=signal.SIGTERM):
        self.going.process.send_signal(by)
        self.going.ends(code)


@contextmanager
def serving(place, *words, **env):
    with place.going("serve", "--port", "0", "--json", *words, **env) as going:
        line = until(
            lambda: (going.out.endswith("\n") and going.out) or (going.process.poll() is not None and "{}"), "a line"
        )
        assert "url" in json.loads(line), going.err
        with httpx2.Client(base_url=json.loads(line)["url"], timeout=60) as client:
            server = Server(place, going, client)
            server.told = json.loads(line)
            yield server


def ended(server, run):
    return until(lambda: (found := server.client.get(f"/v1/runs/{run}").json())["status"] != "running" and found)
