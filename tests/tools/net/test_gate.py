import socket

import pytest
from gates import allowing, attempt_of, gate_of
from servers import saying

from perdure.core.deeds import is_host, is_port
from perdure.core.policy import Deed, Layer, Terms, judge
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Guard, Unapproved
from perdure.tools.net.addresses import is_public
from perdure.tools.net.gate import Gate, Pin, Pinned, dial

PUBLIC = ("93.184.216.34", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001:80b::200e")
NOT_PUBLIC = (
    "127.0.0.1 127.255.0.1 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 169.254.169.254 "
    "168.63.129.16 192.0.0.192 198.18.0.1 203.0.113.7 224.0.0.1 255.255.255.255 240.0.0.1 100.100.100.200 "
    ":: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 "
    "64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1:: 2001:0:7f00:1:: 2001:db8::1 100::1 3fff::1 nonsense"
).split()


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_everybody_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_behind_walls_are_not_public(address):
    assert not is_public(address)


HOSTS = (
    "example.com",
    "a",
    "xn--bcher-kva.example",
    "127.0.0.1",
    "[::1]",
    "[2606:4700::1111]",
    "1.example",
    "a" * 63 + ".b",
)
NO_HOSTS = (
    "", ".", "example.com.", "a..b", "-a.b", "a-.b", "Example.com", "exämple.com", "\u212aelvin.example", "a b", "a_b.c", "a%2eb",
    "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.01", "127.0.0.256", "1.2.3.4.5", "a.0x7f", "a.1",
    "::1", "[::1", "[0:0:0:0:0:0:0:1]", "[::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[fe80::1%25eth0]", "[::FFFF]",
    "user@host", "a\x00.b", "a\r\nb", "a\tb", "a/b", "a\\b", "a#b", "a?b", "*", "*.example.com", "a" * 64, ("a" * 60 + ".") * 5 + "b",
)  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_a_name_or_an_address(host):
    assert is_host(host)
    assert judge((), Deed("connect", f"{host}:443")).verdict == "allow"


@pytest.mark.parametrize("host", NO_HOSTS)
def test_what_could_be_read_in_two_ways_is_no_host(host):
    assert not is_host(host)
    with pytest.raises(ToolFailure) as refused:
        gate_of("*").admit(host, 443)
    assert refused.value.failure.kind == "denied"


def test_what_turns_into_another_host_by_lower_case_is_denied():
    assert judge((), Deed("connect", "\u212aelvin.example:443")).verdict == "deny"


@pytest.mark.parametrize("port", ["", "0", "080", "65536", "99999", "100000", "-1", "+1", "1 ", "٣", "8080\n"])
def test_what_is_no_port_is_denied(port):
    assert not is_port(port)


def resolving(*addresses):
    """A resolver that gives these, each time the next ones if there are several lists."""
    lists = [[each] if isinstance(each, str) else list(each) for each in addresses]

    def resolve(host, port):
        resolve.asked.append(host)
        return lists[min(len(resolve.asked), len(lists)) - 1]

    resolve.asked = []
    return resolve


def test_a_name_is_resolved_once_and_pinned():
    """Hole 12: the second answer of a resolver that turns to our own machine is never heard."""
    resolve = resolving("93.184.216.34", "127.0.0.1")
    pin = gate_of("example.com:443", resolve=resolve).admit("example.com", 443)
    assert (pin.host, pin.port, pin.addresses) == ("example.com", 443, ("93.184.216.34",))
    assert resolve.asked == ["example.com"]


@pytest.mark.parametrize(
    "inner", ["127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1"]
)
def test_one_address_behind_a_wall_spoils_the_name(inner):
    gate = gate_of("*", resolve=resolving(["93.184.216.34", inner]))
    with pytest.raises(ToolFailure, match="not public"):
        gate.admit("example.com", 443)
    assert [(each.verdict, each.by) for each in gate.judged] == [("deny", "perdure"), ("allow", "user")]


def test_a_host_that_is_not_allowed_is_not_even_resolved():
    resolve = resolving("93.184.216.34")
    gate = gate_of("example.com:443", resolve=resolve)
    for host, port in (("evil.example", 443), ("example.com", 80), ("sub.example.com", 443), ("xexample.com", 443)):
        with pytest.raises(ToolFailure, match="not among what is allowed"):
            gate.admit(host, port)
    assert resolve.asked == []
    assert {each.verdict for each in gate.judged} == {"deny"}


def test_behind_walls_lies_only_what_the_outermost_layer_names():
    outer, inner = Layer("user", network=Terms(allow=("*:*",))), Layer("plan", network=Terms(allow=("127.0.0.1:80",)))
    named = Layer("user", network=Terms(allow=("127.0.0.1:80",)))
    for layers in ((), (outer,), (outer, inner), (Layer("user"), inner)):
        with pytest.raises(ToolFailure, match="not public"):
            Gate(Guard(attempt_of(layers=layers))).admit("127.0.0.1", 80)
    assert Gate(Guard(attempt_of(layers=(named,)))).admit("127.0.0.1", 80).addresses == ("127.0.0.1",)
    with pytest.raises(ToolFailure, match="not among"):
        Gate(Guard(attempt_of(layers=(named, Layer("plan", network=Terms(allow=("a.b",))))))).admit("127.0.0.1", 80)


def test_localhost_is_this_machine_if_it_is_named():
    assert gate_of("localhost:80", resolve=resolving(["127.0.0.1", "::1"])).admit("localhost", 80).addresses
    for gate in (
        gate_of("*:80", resolve=resolving("127.0.0.1")),
        gate_of("localhost:80", resolve=resolving("10.0.0.1")),
    ):
        with pytest.raises(ToolFailure, match="not public"):
            gate.admit("localhost", 80)


def test_a_name_that_leads_inside_is_refused_even_if_it_is_named():
    with pytest.raises(ToolFailure, match=r"as in 10\.0\.0\.1:443"):
        gate_of("intranet.example:443", resolve=resolving("10.0.0.1")).admit("intranet.example", 443)


def test_a_name_that_leads_inside_is_let_through_to_an_address_that_is_named_too():
    rules = ("intranet.example:443", "10.0.0.1:443")
    assert gate_of(*rules, resolve=resolving("10.0.0.1")).admit("intranet.example", 443).addresses == ("10.0.0.1",)
    for addresses in ("10.0.0.2", ["10.0.0.1", "127.0.0.1"]):
        with pytest.raises(ToolFailure, match="not public"):
            gate_of(*rules, resolve=resolving(addresses)).admit("intranet.example", 443)
    for rule in ("*:443", "10.0.0.1:80"):
        with pytest.raises(ToolFailure, match="not public"):
            gate_of("intranet.example", rule, resolve=resolving("10.0.0.1")).admit("intranet.example", 443)


@pytest.mark.parametrize(
    "inner",
    [
        Layer("plan", network=Terms(allow=("intranet.example:443",))),
        Layer("plan", network=Terms(deny=("10.0.0.1:443",))),
        Layer("plan", network=Terms(ask=("10.0.0.1:443",))),
    ],
)
def test_by_a_name_nothing_is_reached_that_a_layer_holds_back(inner):
    layers = (*allowing("intranet.example:443", "10.0.0.1:443"), inner)
    with pytest.raises(ToolFailure, match="not public"):
        Gate(Guard(attempt_of(layers=layers)), resolving("10.0.0.1")).admit("intranet.example", 443)


def test_a_pinned_host_is_looked_up_once_whatever_the_resolver_says_later():
    resolve = resolving("93.184.216.34", "127.0.0.1")
    gate = Pinned(Guard(attempt_of(layers=allowing("example.com:443"))), "example.com", 443, resolve=resolve)
    assert [gate.admit("example.com", 443).addresses for _ in range(3)] == [("93.184.216.34",)] * 3
    assert len(resolve.asked) == 1
    for host, port in (("example.com", 80), ("localhost", 443), ("93.184.216.34", 443)):
        with pytest.raises(ToolFailure, match=r"only example\.com"):
            gate.admit(host, port)


def test_what_a_deed_was_let_to_is_let_through_again_and_nothing_beside_it():
    guard = Guard(attempt_of())
    assert Pinned(guard, "10.0.0.1", 80, ["10.0.0.1"]).pin.addresses == ("10.0.0.1",)
    for known in ([], ["10.0.0.2"]):
        with pytest.raises(ToolFailure, match="not public"):
            Pinned(guard, "10.0.0.1", 80, known)


def test_a_name_without_an_address_is_unavailable():
    def nothing(host, port):
        raise socket.gaierror(-2, "Name or service not known")

    for resolve in (nothing, lambda host, port: []):
        with pytest.raises(ToolFailure) as failed:
            gate_of("*", resolve=resolve).admit("nowhere.example", 443)
        assert failed.value.failure.kind == "unavailable"


def test_a_host_that_is_asked_about_waits_for_a_person():
    attempt = attempt_of(layers=allowing("*", ask=("example.com",)))
    with pytest.raises(Unapproved) as asked:
        Gate(Guard(attempt), resolving("93.184.216.34")).admit("example.com", 443)
    agreed = attempt_of(layers=attempt.layers, approved=[asked.value.approval.digest])
    assert Gate(Guard(agreed), resolving("93.184.216.34")).admit("example.com", 443).addresses


def test_dialling_goes_on_to_the_next_address_that_was_looked_at(serve):
    server = serve(saying(b"ok"))
    with dial(Pin("some.example", server.port, ("127.0.0.2", "127.0.0.1")), 5) as sock:
        assert sock.getpeername() == ("127.0.0.1", server.port)
    server.close()
    with pytest.raises(ToolFailure, match="cannot be reached") as failed:
        dial(Pin("some.example", server.port, ("127.0.0.1",)), 5)
    assert failed.value.failure.kind == "unavailable"
