"""E14: Classifying: every failure gets a kind by the table, and no rule hides a doubt or a refusal."""

import asyncio
import email.utils
import errno
import json
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.error

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import Engine, Plan
from perdure.core.calls import DOUBTFUL
from perdure.tools import Context, ToolFailure, ToolPerformer, tool
from perdure.tools.classifying import classified, classified_error, told_by
from perdure.tools.failure import KINDS, failure_of
from perdure.tools.rulebook import DIED, OURS, STATUS
from perdure.tools.rules import Rule
from perdure.tools.signs import Signs, Told, ended, pause_of, seconds_of, signs_of

REPEATS = ("safe", "keyed", "never")


def kind_of(error, repeat="safe", *rules):
    return classified_error(error, "a.tool", repeat, rules).kind


# ------------------------------------------------------------ the table


def signs_like(rule):
    """A failure that is exactly as a rule says."""
    status = int(rule.status[0]) * 100 + 99 if isinstance(rule.status, str) else rule.status
    return Signs(
        exceptions=(rule.exception.replace("*", "2"),) if rule.exception else (),
        errno=getattr(errno, rule.errno) if rule.errno else 0,
        status=status,
        exit_code=rule.exit_code,
        signal=rule.signal,
        rpc=rule.rpc,
        errors=(rule.error,) if rule.error else (),
        message=f"Oh: {rule.message.upper()}!",
    )


@pytest.mark.parametrize("rule", OURS, ids=lambda rule: rule.name)
def test_every_rule_can_be_the_first_that_fits(rule):
    found = classified(Told("", "no", signs=signs_like(rule)), "a.tool", "safe")
    assert (found.kind, found.detail["rule"]) == (rule.kind, rule.name)


@pytest.mark.parametrize("rule", [each for each in OURS if each.effect == "unknown"], ids=lambda rule: rule.name)
def test_what_may_have_arrived_is_in_doubt_where_it_may_never_be_repeated(rule):
    told = Told("", "no", signs=signs_like(rule))
    assert classified(told, "a.tool", "never").kind == "in_doubt"
    assert classified(told, "a.tool", "keyed").kind == rule.kind


def raised(function):
    try:
        function()
    except Exception as error:  # noqa: BLE001  whatever it is
        return error
    raise AssertionError


def locked_database():
    first, second = (sqlite3.connect("file:shared?mode=memory&cache=shared", uri=True, timeout=0) for _ in range(2))
    first.execute("create table if not exists t (x)")
    first.execute("begin exclusive")
    second.execute("insert into t values (1)")


def answered(status, headers=None, body=None):
    request = httpx2.Request("GET", "http://localhost")
    return raised(httpx2.Response(status, headers=headers, json=body, request=request).raise_for_status)


def os_error(name):
    return OSError(getattr(errno, name), name)


class ProviderError(Exception):
    """As the clients of those who sell models raise them."""

    def __init__(self, status_code, body):
        super().__init__("it said no")
        self.status_code, self.body = status_code, body


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("slow"), "timeout"),
        (TimeoutError(), "timeout"),
        (ConnectionRefusedError("nobody"), "unavailable"),
        (ConnectionResetError("gone"), "transient"),
        (BrokenPipeError("gone"), "transient"),
        (os_error("ENOSPC"), "unavailable"),
        (os_error("EACCES"), "denied"),
        (os_error("ECONNRESET"), "transient"),
        (os_error("EHOSTUNREACH"), "unavailable"),
        (FileNotFoundError(2, "no"), "invalid"),
        (raised(lambda: json.loads("{")), "invalid"),
        (raised(locked_database), "transient"),
        (ssl.SSLCertVerificationError("who?"), "denied"),
        (httpx2.ConnectError("no"), "unavailable"),
        (httpx2.ReadTimeout("no"), "timeout"),
        (httpx2.ReadError("no"), "transient"),
        (answered(429), "rate_limited"),
        (answered(404), "invalid"),
        (answered(502), "transient"),
        (urllib.error.HTTPError("http://localhost", 403, "no", None, None), "denied"),
        (urllib.error.URLError(ConnectionRefusedError("nobody")), "unavailable"),
        (subprocess.CalledProcessError(127, "x"), "invalid"),
        (subprocess.CalledProcessError(-9, "x"), "unavailable"),
        (subprocess.CalledProcessError(3, "x"), "logic"),
        (subprocess.TimeoutExpired("x", 3), "timeout"),
        (ProviderError(429, {"error": {"type": "insufficient_quota"}}), "budget"),
        (ProviderError(429, {"error": {"code": "rate_limit_exceeded"}}), "rate_limited"),
        (ProviderError(529, {"type": "error", "error": {"type": "overloaded_error"}}), "unavailable"),
        (ProviderError(400, {"code": "context_length_exceeded"}), "invalid"),
        (ProviderError(400, {"error": {"code": "content_filter"}}), "denied"),
        (ProviderError(500, None), "transient"),
        (ExceptionGroup("both", [ValueError("a"), ConnectionResetError("b")]), "transient"),
        (ExceptionGroup("one", [os_error("ENOSPC")]), "unavailable"),
        (raised(lambda: exec("try: 1/0\nexcept ZeroDivisionError as e: raise RuntimeError('x') from TimeoutError('y')")), "timeout"),  # noqa: S102  as a tool would write it
        (ValueError("x"), "unknown"),
        (SystemExit(404), "unknown"),
        (asyncio.CancelledError("by itself"), "unknown"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_exceptions_that_people_meet(error, kind):
    assert kind_of(error) == kind


def test_an_unknown_failure_says_what_it_was_and_where():
    def pay():
        raise LookupError("no such purse")

    found = classified_error(raised(pay), "shop.pay", "never")
    assert (found.kind, found.message) == ("unknown", "LookupError: no such purse")
    assert found.detail["exception"] == "LookupError"
    assert found.detail["at"].startswith(f"{__name__}:")
    assert found.detail["at"].endswith(" in pay")
    assert "rule" not in found.detail


# ------------------------------------------------------------ how long to stay away


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("3", 3), (" 3 ", 3), ("0.5", 0.5), (2, 2), (0, 0), ("", None), (None, None), ("soon", None), ("-1", None),
     (-1, None), (float("nan"), None), (float("inf"), None), (True, None), ("٣", None), ("9" * 400, 1e9),
     ("Fri, 31 Feb 2026 00:00:00 GMT", None), ("Sat, 01 Jan 2000 00:00:00 GMT", 0), ([], None)],
)  # fmt: skip
def test_seconds_are_read_as_they_are_written(asked, seconds):
    assert seconds_of(asked) == seconds


def test_a_date_says_how_long_it_is_until_then():
    assert 55 < seconds_of(email.utils.formatdate(time.time() + 60, usegmt=True)) <= 60


def test_who_asks_in_milliseconds_is_heard_first():
    assert pause_of({"retry-after-ms": "1500", "retry-after": "2"}) == 1.5
    assert pause_of({"Retry-After": "2"}) == 2


@pytest.mark.parametrize(
    "error",
    [answered(429, {"Retry-After": "7"}), answered(503, {"Retry-After": "7"}), answered(418, {"Retry-After": "7"})],
)
def test_it_is_honoured_whatever_it_comes_from(error):
    assert classified_error(error, "a.tool", "safe").retry_after == 7


def test_a_rule_says_how_long_only_where_the_other_side_does_not():
    rule = Rule("rate_limited", status=418, retry_after=5)
    assert classified_error(answered(418), "a.tool", "safe", [rule]).retry_after == 5
    assert classified_error(answered(418, {"Retry-After": "7"}), "a.tool", "safe", [rule]).retry_after == 7


# ------------------------------------------------------------ who comes first


class BusyError(Exception):
    pass


def test_users_come_before_tools_and_those_before_us():
    told = failure_of(answered(404))
    assert classified(told, "a.tool", "safe").kind == "invalid"
    by_tool = classified(told, "a.tool", "safe", tools=[Rule("unavailable", status=404)])
    assert (by_tool.kind, by_tool.detail["rule"]) == ("unavailable", "tool: status=404")
    by_user = classified(told, "a.tool", "safe", [Rule("transient", status="4xx")], [Rule("unavailable", status=404)])
    assert (by_user.kind, by_user.detail["rule"]) == ("transient", "user: status=4xx")


def test_the_first_rule_that_fits_wins():
    rules = [Rule("transient", tool="other.*", status=404), Rule("logic", tool="a.*", status=404),
             Rule("denied", status=404)]  # fmt: skip
    assert kind_of(answered(404), "safe", *rules) == "logic"


def test_a_rule_for_an_exception_holds_for_what_is_derived_from_it_and_for_what_lies_behind():
    class BusierError(BusyError):
        pass

    rule = Rule("rate_limited", exception=BusyError)
    assert kind_of(BusierError(), "safe", rule) == "rate_limited"
    wrapped = RuntimeError("x")
    wrapped.__cause__ = BusyError()
    assert kind_of(wrapped, "safe", rule) == "rate_limited"
    assert kind_of(RuntimeError("x"), "safe", rule) == "unknown"


def test_a_rule_can_speak_of_what_a_tool_has_said_itself():
    error = ToolFailure("logic", "Server BUSY: try later", detail={"a": 1})
    found = classified_error(error, "a.tool", "never", [Rule("transient", message="busy*later")])
    assert (found.kind, found.detail) == ("transient", {"a": 1, "rule": "user: message=busy*later"})
    assert classified_error(error, "a.tool", "never").detail == {"a": 1}


# ------------------------------------------------------------ what no rule can do


@pytest.mark.parametrize("repeat", ["keyed", "never"])
@pytest.mark.parametrize(
    "error", [ToolFailure("in_doubt", "cut off"), ToolFailure("timeout", "late"), TimeoutError("late")], ids=repr
)
def test_no_rule_hides_a_doubt_unless_it_says_that_nothing_happened(error, repeat):
    plain = Rule("transient", message="*")
    assert kind_of(error, repeat, plain) in DOUBTFUL
    assert kind_of(error, repeat, Rule("transient", message="*", effect="none")) == "transient"
    assert kind_of(error, "safe", plain) == "transient"


def test_a_lost_connection_of_what_may_never_be_repeated_stays_a_doubt():
    for error in (ConnectionResetError("gone"), httpx2.ReadError("gone"), answered(502), os_error("EPIPE")):
        assert kind_of(error, "never") == "in_doubt"
        assert kind_of(error, "never", Rule("transient", message="*")) == "in_doubt"


@pytest.mark.parametrize("kind", ["denied", "budget", "cancelled"])
def test_what_the_engine_refuses_is_not_for_rules_to_say(kind):
    assert kind_of(ToolFailure(kind, "no"), "safe", Rule("transient", message="*")) == kind


def test_what_another_side_refuses_is():
    forbidden = told_by(Signs(status=403), "secondary rate limit")
    assert forbidden.failure.kind == "denied"
    assert kind_of(forbidden, "never", Rule("rate_limited", status=403, message="rate limit")) == "rate_limited"


# ------------------------------------------------------------ hostile things


class HostileError(Exception):
    """Whatever is looked at, it breaks."""

    def __str__(self):
        raise SystemExit

    def __getattribute__(self, name):
        raise SystemExit if name in ("status_code", "body", "headers", "retry_after") else AttributeError(name)


class UnseenError(Exception):
    """Not even its class can be asked for."""

    def __getattribute__(self, name):
        raise SystemExit


class LyingError(Exception):
    status_code = True
    errno = 10**30
    returncode = -(10**9)
    code = "x" * 10**6
    headers = "Retry-After: 7"
    body = {"error": {"code": "\ud800"}}  # noqa: RUF012  as strangers write it
    retry_after = float("inf")

    def __str__(self):
        return "\ud800\x00" * 10**6


def endless():
    error = ValueError("a")
    error.__cause__ = error
    return error


@pytest.mark.parametrize(
    "make", [HostileError, UnseenError, LyingError, endless, lambda: ExceptionGroup("x", [endless()] * 1_000)]
)
@pytest.mark.parametrize("repeat", REPEATS)
def test_hostile_exceptions_are_only_failures(make, repeat):
    found = classified_error(
        make(), "a.tool", repeat, [Rule("logic", message="never there"), Rule("logic", status=418)]
    )
    assert found.kind in KINDS
    assert len(found.message) <= 2_000
    json.dumps([found.message, found.detail]).encode()


TEXTS = st.text(max_size=60)


@given(
    st.builds(
        Signs,
        exceptions=st.lists(
            st.sampled_from([each.exception for each in OURS if each.exception]) | TEXTS, max_size=3
        ).map(tuple),
        errno=st.integers(),
        status=st.none() | st.integers(),
        exit_code=st.none() | st.integers(),
        signal=TEXTS,
        rpc=st.none() | st.integers(),
        errors=st.lists(TEXTS, max_size=3).map(tuple),
        message=st.text(max_size=2_000),
    ),
    st.sampled_from(["", *sorted(KINDS)]),
    st.sampled_from(REPEATS),
)
def test_whatever_is_seen_there_is_a_kind(signs, kind, repeat):
    found = classified(Told(kind, "no", signs=signs), "a.tool", repeat, [Rule("transient", message="*a*b*c*")])
    assert found.kind in KINDS
    if kind in DOUBTFUL and repeat != "safe":
        assert found.kind in DOUBTFUL


@given(st.none() | st.integers())
def test_however_a_command_ends_it_has_a_code(code):
    found, signal = ended(code)
    assert (found is None) == (code is None)
    assert signal == "" or signal.startswith("SIG")


def test_a_pattern_takes_no_time_to_speak_of():
    rule = Rule("transient", message="*a" * 90 + "b")
    began = time.process_time()
    assert not rule.fits(Signs(message="a" * 2_000), "a.tool")
    assert time.process_time() - began < 1


# ------------------------------------------------------------ in tools


@pytest.mark.parametrize("isolate", [False, True])
async def test_rules_of_tools_and_users_count_wherever_it_runs(isolate, an_attempt, tmp_path, monkeypatch):
    (tmp_path / "busy_tools.py").write_text(
        "from perdure import Rule, tool\n"
        "class Busy(Exception): ...\n"
        f"@tool(name='shop.order', isolate={isolate}, failures=[Rule('rate_limited', exception=Busy, retry_after=3)])\n"
        "def order(how: str):\n    raise Busy(how)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    order = __import__("busy_tools").order
    try:
        found = (await ToolPerformer([order]).perform(an_attempt("shop.order", {"how": "a"}))).failure
        assert (found.kind, found.retry_after, type(found).__name__) == ("rate_limited", 3, "Failure")
        assert found.detail["exception"] == "busy_tools.Busy"
        users = ToolPerformer([order], failures=[Rule("denied", exception="*.Busy", message="b")])
        assert (await users.perform(an_attempt("shop.order", {"how": "a"}))).failure.kind == "rate_limited"
        assert (await users.perform(an_attempt("shop.order", {"how": "b"}))).failure.kind == "denied"
    finally:
        del sys.modules["busy_tools"]


async def test_what_breaks_while_it_is_foreseen_has_a_kind_too(an_attempt):
    def look(context):
        raise TimeoutError("slow")

    @tool(name="a.b", judges=True, foresee=look)
    def deed(context: Context): ...

    assert (await ToolPerformer([deed]).judged(an_attempt("a.b"))).failure.kind == "timeout"


async def test_the_guard_is_not_overruled(an_attempt):
    @tool(name="a.b", effects=[])
    def denied(context: Context):
        raise ToolFailure("denied", "by your policy")

    rules = [Rule("transient", tool="a.b"), Rule("transient", message="policy")]
    assert (await ToolPerformer([denied], failures=rules).perform(an_attempt("a.b"))).failure.kind == "denied"


async def test_rules_reach_every_performer_of_an_engine():
    class Model:
        async def perform(self, attempt):
            raise ProviderError(429, {"error": {"type": "rate_limit_error"}})

    plan = Plan.from_steps([{"id": "ask", "model": "m", "prompt": "?"}])
    for rules, kind in (((), "rate_limited"), ([Rule("unavailable", status=429)], "unavailable")):
        async with Engine.open(performer=Model(), failures=rules) as engine:
            result = await (await engine.start(plan)).result()
            assert result.failure.kind == kind


async def test_an_engine_takes_no_rule_that_cannot_be_meant():
    with pytest.raises(ValueError, match="kind: it is missing"):
        async with Engine.open(failures=[{"status": 418}]):
            pass


async def test_secrets_are_taken_out_of_what_is_kept_about_a_failure():
    @tool(name="a.b")
    def leak(key: str):
        raise BusyError(f"refused {key}")

    plan = Plan.from_steps([{"id": "leak", "tool": "a.b", "with": {"key": "${secrets.KEY}"}}])
    rules = [Rule("denied", exception="*BusyError")]
    async with Engine.open(tools=[leak], secrets={"KEY": "correct horse battery"}, failures=rules) as engine:
        run = await engine.start(plan)
        result = await run.result()
        _, entries = await engine.journal.load(run.id)
    assert (result.failure.kind, "horse" in result.failure.message) == ("denied", False)
    assert not any(b"horse" in entry.body for entry in entries)


GOOD_PATH = """
import asyncio, sys
from perdure import Engine, Plan, tool
@tool(name="a.b")
def works(): return 1
async def main():
    async with Engine.open(tools=[works]) as engine:
        plan = Plan.from_steps([{"id": "a", "tool": "a.b"}])
        assert (await (await engine.start(plan)).result()).status == "succeeded"
asyncio.run(main())
names = ("classifying", "rulebook", "rules", "signs")
print([name for name in names if f"perdure.tools.{name}" in sys.modules])
"""


def test_who_succeeds_loads_nothing_of_this():
    done = subprocess.run([sys.executable, "-c", GOOD_PATH], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_ours_are_told_apart():
    names = [(rule.name, rule.kind) for rule in OURS]
    assert len(set(names)) == len(names)
    assert {STATUS, DIED}.isdisjoint(each.status for each in OURS)
    assert signs_of(ValueError("x")).exceptions == ("ValueError", "Exception", "BaseException")
