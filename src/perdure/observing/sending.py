"""Sending spans to a collector, by OTLP over HTTP. Only this file knows the SDK, which is an extra.

One thread sends, and nobody waits for it longer than a bound. What could not be sent is read again from the journal.
"""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from perdure.observing.spans import CONVENTIONS, Span

_PATH: Final = "v1/traces"
_NANO: Final = 1_000_000
"""Nanoseconds in a millisecond."""
_log: Final = logging.getLogger("perdure.observing")


class Collector:
    """Somebody who takes spans."""

    def __init__(self, endpoint: str = "") -> None:
        """`endpoint`: where it is, without the path; empty: where the variables of OpenTelemetry say."""
        for noisy in ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.exporter"):
            logging.getLogger(noisy).setLevel(logging.CRITICAL)  # what comes of it is told in our words, once
        self._exporter: Final = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/{_PATH}" if endpoint else None)
        named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "perdure"}
        self._resource: Final = Resource.create(named)
        self._scope: Final = InstrumentationScope("perdure", schema_url=CONVENTIONS)
        self._failed = False

    def take(self, spans: Sequence[tuple[Span, Mapping[str, Any]]]) -> bool:
        """Send spans, each with what it says besides; whether they were taken."""
        found = self._exporter.export([self._readable(span, content) for span, content in spans])
        if found is not SpanExportResult.SUCCESS and not self._failed:
            _log.warning("traces are not taken by the collector; they are sent again later")
        self._failed = found is not SpanExportResult.SUCCESS
        return not self._failed

    def close(self) -> None:
        """Give up what is under way."""
        self._exporter.shutdown()

    def _readable(self, span: Span, content: Mapping[str, Any]) -> ReadableSpan:
        failed = {"error.type": span.failure} if span.failure else {}
        return ReadableSpan(
            span.name,
            context=_context(span.trace, span.id),
            parent=_context(span.trace, span.parent) if span.parent else None,
            resource=self._resource,
            attributes={**span.attributes, **failed, **{word: _written(each) for word, each in content.items()}},
            links=[Link(_context(*each)) for each in span.links],
            kind=SpanKind.CLIENT if span.is_client else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.failure) if span.failure else Status(StatusCode.UNSET),
            start_time=span.at * _NANO,
            end_time=max(span.at, span.till) * _NANO,
            instrumentation_scope=self._scope,
        )


def _context(trace: int, span: int) -> SpanContext:
    return SpanContext(trace, span, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=True)
