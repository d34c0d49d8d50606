"""What kind of failure is what, as far as it goes without saying: one table, looked at from above, first fit wins.

`effect="unknown"`: the request may have arrived. Of a call that may never be repeated, nobody knows then whether it was
done. What fits nothing here is `unknown`.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from perdure.plan.model.parts import FailureKind as Kind
from perdure.tools.rules import Rule

PARSE, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32_700, -32_600, -32_601, -32_602, -32_603
CLOSED, TIMEOUT, NEEDS_URL = -32_000, -32_001, -32_042
NOT_SENT, LOST, STATUS, REFUSED = -32_990, -32_991, -32_992, -32_993
"""Ours: it cannot have reached the server; nobody knows; a status and nothing else came; the gate has refused to
connect."""
DIED: Final = "process_died"
"""How we name it that the process of a tool ended without a result."""


def _each(kind: Kind, word: str, values: Iterable[str | int], **more: str) -> Iterator[Rule]:
    return (Rule(kind, **{word: value, **more}) for value in values)  # pyright: ignore[reportArgumentType]  told apart by its word


_PROVIDERS: Final = (
    *_each("rate_limited", "error", (
        "rate_limit_exceeded", "rate_limit_error", "rate_limit_reached", "too_many_requests", "tokens_exceeded_error",
        "RESOURCE_EXHAUSTED", "ThrottlingException", "Throttling", "TooManyRequestsException", "SlowDown",
        "RequestLimitExceeded", "ProvisionedThroughputExceededException",
    )),
    *_each("budget", "error", (
        "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "payment_required",
        "credit_balance_too_low", "ServiceQuotaExceededException",
    )),
    *_each("unavailable", "error", (
        "overloaded_error", "engine_overloaded", "model_overloaded", "service_unavailable", "server_overloaded",
        "ModelNotReadyException", "ServiceUnavailableException",
    )),
    *_each("invalid", "error", (
        "context_length_exceeded", "string_above_max_length", "request_too_large", "invalid_request_error",
        "invalid_prompt", "model_not_found", "not_found_error", "unsupported_parameter", "unsupported_value",
        "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "NOT_FOUND", "ValidationException",
    )),
    *_each("denied", "error", (
        "content_filter", "content_policy_violation", "moderation_blocked", "invalid_api_key", "authentication_error",
        "permission_error", "account_deactivated", "unsupported_country_region_territory", "UNAUTHENTICATED",
        "PERMISSION_DENIED", "AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException",
    )),
    *_each("timeout", "error", ("timeout_error", "DEADLINE_EXCEEDED", "ModelTimeoutException")),
    *_each("transient", "error", (
        "api_error", "server_error", "internal_server_error", "INTERNAL", "ABORTED", "InternalServerException",
    ), effect="unknown"),
    Rule("unavailable", error="UNAVAILABLE", effect="unknown"),
)  # fmt: skip
"""Those who sell models name their errors; a status alone says less. Before statuses: an empty account is a 429 too."""

_MCP: Final = (
    Rule("transient", rpc=STATUS, status=404),  # the session is gone, and the next call begins another
    Rule("unavailable", rpc=NOT_SENT),
    Rule("denied", rpc=REFUSED),
    Rule("denied", rpc=NEEDS_URL),
    Rule("timeout", rpc=TIMEOUT),
    *_each("invalid", "rpc", (INVALID_REQUEST, INVALID_PARAMS, NO_METHOD)),
    *_each("transient", "rpc", (PARSE, CLOSED, LOST), effect="unknown"),
    Rule("unknown", rpc=INTERNAL),
)

_STATUSES: Final = (
    *_each("denied", "status", (401, 403, 407, 451)),
    *_each("transient", "status", (408, 425)),
    Rule("rate_limited", status=429),
    *_each("unavailable", "status", (503, 529)),
    *_each("invalid", "status", (501, 505)),
    Rule("transient", status="5xx", effect="unknown"),
    *_each("invalid", "status", ("1xx", "3xx", "4xx")),
)

_COMMANDS: Final = (
    Rule("timeout", exit_code=124),  # of `timeout`
    *_each("invalid", "exit_code", (126, 127)),  # it cannot be run; it is not there
    Rule("transient", exit_code=75),  # EX_TEMPFAIL: it asks to be tried again
    Rule("unavailable", signal="SIGKILL", effect="unknown"),  # mostly for want of memory
    *_each("budget", "signal", ("SIGXCPU", "SIGXFSZ"), effect="unknown"),
    *_each("transient", "signal", ("SIGTERM", "SIGINT", "SIGHUP"), effect="unknown"),
    *_each("logic", "signal", ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP", "SIGPIPE"),
           effect="unknown"),
    Rule("logic", exception="subprocess.CalledProcessError"),
)  # fmt: skip

_NOTHING_SENT: Final = (
    "ConnectionRefusedError", "socket.gaierror", "httpx*.ConnectError", "httpx*.ConnectTimeout", "httpx*.PoolTimeout",
    "httpx*.ProxyError", "requests.exceptions.ConnectTimeout", "requests.exceptions.ProxyError",
    "urllib3.exceptions.NewConnectionError", "urllib3.exceptions.ConnectTimeoutError",
    "aiohttp.client_exceptions.ClientConnectorError",
)  # fmt: skip
_TOO_LATE: Final = (
    "TimeoutError", "subprocess.TimeoutExpired", "httpx*.TimeoutException", "requests.exceptions.Timeout",
    "urllib3.exceptions.TimeoutError", "openai.APITimeoutError", "anthropic.APITimeoutError",
)  # fmt: skip
_CUT_OFF: Final = (
    "ConnectionError", "asyncio.exceptions.IncompleteReadError", "http.client.IncompleteRead",
    "http.client.BadStatusLine", "httpx*.NetworkError", "httpx*.RemoteProtocolError",
    "requests.exceptions.ConnectionError", "requests.exceptions.ChunkedEncodingError",
    "urllib3.exceptions.ProtocolError", "aiohttp.client_exceptions.ServerDisconnectedError",
    "aiohttp.client_exceptions.ClientPayloadError", "openai.APIConnectionError", "anthropic.APIConnectionError",
)  # fmt: skip
_EXCEPTIONS: Final = (
    *_each("denied", "exception", ("ssl.SSLCertVerificationError", "PermissionError")),
    *_each("unavailable", "exception", _NOTHING_SENT),
    *_each("timeout", "exception", _TOO_LATE),
    *_each("transient", "exception", (*_CUT_OFF, "ssl.SSLError"), effect="unknown"),
    *_each("transient", "exception", ("BlockingIOError", "InterruptedError"), effect="unknown"),
    Rule("unavailable", exception="MemoryError", effect="unknown"),
    Rule("transient", exception="sqlite3.OperationalError", message="is locked"),
    *_each("unavailable", "message", ("disk is full", "disk I/O error", "unable to open database file"),
           exception="sqlite3.OperationalError"),
    *_each("logic", "exception", ("sqlite3.IntegrityError", "sqlite3.ProgrammingError", "RecursionError")),
    *_each("invalid", "exception", (
        "json.decoder.JSONDecodeError", "UnicodeError", "FileNotFoundError", "NotADirectoryError", "IsADirectoryError",
        "pydantic_core.*ValidationError", "httpx*.InvalidURL", "httpx*.UnsupportedProtocol", "httpx*.TooManyRedirects",
        "httpx*.LocalProtocolError", "requests.exceptions.InvalidURL", "requests.exceptions.TooManyRedirects",
    )),
    Rule("logic", exception="FileExistsError"),
)  # fmt: skip

_SYSTEM: Final = (
    *_each("unavailable", "errno", ("EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL",
                                    "ECONNREFUSED")),
    *_each("unavailable", "errno", ("ENOSPC", "EDQUOT", "EIO", "EROFS", "EMFILE", "ENFILE", "ENOMEM"),
           effect="unknown"),
    *_each("transient", "errno", ("EBUSY", "ETXTBSY", "EAGAIN", "EINTR", "ENOLCK", "EPIPE", "ECONNRESET",
                                  "ECONNABORTED", "ENETRESET"), effect="unknown"),
    Rule("timeout", errno="ETIMEDOUT"),
    *_each("denied", "errno", ("EACCES", "EPERM")),
    *_each("invalid", "errno", ("ENAMETOOLONG", "ELOOP", "EINVAL", "E2BIG")),
)  # fmt: skip
"""A machine in trouble may be so after the deed as well as before."""

OURS: Final = (
    Rule("unknown", error=DIED, effect="unknown"),
    *_PROVIDERS, *_MCP, *_STATUSES, *_COMMANDS, *_EXCEPTIONS, *_SYSTEM,
)  # fmt: skip
"""The table."""
