"""A collector of OpenTelemetry that takes spans over HTTP, and keeps them."""

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Receiver:
    """What came, in the order in which it came."""

    def __init__(self):
        self.requests = []
        self.status = 200
        self.url = ""

    @property
    def all(self):
        """Every span that came, also twice."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def spans(self):
        """Spans by their number."""
        return {span.span_id: span for span in self.all}

    def named(self, name):
        return [span for span in self.spans.values() if span.name == name]


def about(span):
    """The attributes of a span."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


@contextmanager
def receiving():
    receiver = Receiver()

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            if receiver.status == 200:
                receiver.requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(receiver.status)
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
