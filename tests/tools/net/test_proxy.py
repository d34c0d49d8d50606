"""The proxy: what gets through, and what holds it in bounds."""

import contextlib
import http.client
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest
from gates import allowing, attempt_of, gate_of
from servers import authority, saying, slowly

from perdure.tools.guard import Guard
from perdure.tools.net import Caps, Gate


def everything(sock):
    """All that comes until the other side hangs up."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := sock.recv(65536):
            data += piece
    return data


def asked(connect, request):
    with connect() as sock:
        sock.sendall(request)
        return everything(sock)


def test_a_request_goes_on_in_plain_form(serve, proxied):
    server = serve(saying(b"hello"))
    host = f"127.0.0.1:{server.port}"
    proxy, connect = proxied(gate_of(host))
    head = f"POST http://{host}/a?b=c HTTP/1.1\r\nHost: {host}\r\nProxy-Authorization: x\r\nConnection: keep-alive, X-A\r\n"
    found = asked(
        connect, f"{head}X-A: 1\r\nContent-Length: 4\r\n\r\nbodyGET http://{host}/smuggled HTTP/1.1\r\n\r\n".encode()
    )
    assert found.endswith(b"hello")
    [(head, body)] = server.asked
    assert head.split("\r\n")[0] == "POST /a?b=c HTTP/1.1"
    assert body == b"body"
    assert server.headers() == {"host": host, "connection": "close", "x-a": "1", "content-length": "4"}
    assert [(each.deed.what, each.verdict) for each in proxy.judged] == [(host, "allow")]
    assert proxy.passed > 9


def test_a_body_that_comes_later_goes_on_and_nothing_after_it(serve, proxied):
    server = serve(saying(b"done"))
    host = f"127.0.0.1:{server.port}"
    _, connect = proxied(gate_of(host))
    with connect() as sock:
        sock.sendall(f"PUT http://{host}/ HTTP/1.1\r\nHost: {host}\r\nContent-Length: 200000\r\n\r\n".encode())
        time.sleep(0.05)
        sock.sendall(b"x" * 200_000 + b"GET / HTTP/1.1\r\n\r\n")
        assert everything(sock).endswith(b"done")
    assert server.asked[0][1] == b"x" * 200_000


def test_a_tunnel_carries_tls_unopened(serve, proxied, tmp_path):
    ca, context = authority(tmp_path)
    server = serve(saying(b"sealed"), context=context)
    proxy, connect = proxied(gate_of(f"localhost:{server.port}"))
    with connect() as sock:
        sock.sendall(f"CONNECT localhost:{server.port} HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode())
        assert sock.recv(1000).startswith(b"HTTP/1.1 200 ")
        with ssl.create_default_context(cafile=ca).wrap_socket(sock, server_hostname="localhost") as sealed:
            sealed.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert everything(sealed).endswith(b"sealed")
    assert b"sealed" not in str(proxy.judged).encode()


def test_programs_that_people_use_get_through(serve, proxied, tmp_path):
    ca, context = authority(tmp_path)
    plain, sealed = serve(saying(b"plain")), serve(saying(b"sealed"), context=context)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    proxy, _ = proxied(gate_of(f"localhost:{plain.port}", f"localhost:{sealed.port}"))
    proxy.start(listener)
    connection = http.client.HTTPSConnection(
        "127.0.0.1", port, context=ssl.create_default_context(cafile=ca), timeout=10
    )
    connection.set_tunnel("localhost", sealed.port)
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"sealed"
    connection.close()
    code = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=10).read().decode())"
    env = {"http_proxy": f"http://127.0.0.1:{port}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code, f"http://localhost:{plain.port}/"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "plain\n", done.stderr


def test_a_refusal_says_why(serve, proxied):
    canary = serve(saying(b"leak"))
    proxy, connect = proxied(gate_of("example.com:443"))
    found = asked(
        connect, f"CONNECT localhost:{canary.port} HTTP/1.1\r\nHost: localhost:{canary.port}\r\n\r\n".encode()
    )
    assert found.startswith(b"HTTP/1.1 403 ")
    assert b"not among what is allowed: example.com:443" in found
    assert [each.verdict for each in proxy.judged] == ["deny"]
    assert canary.connections == 0


def test_what_needs_approval_does_not_pass(serve, proxied):
    canary = serve(saying(b"leak"))
    host = f"127.0.0.1:{canary.port}"
    proxy, connect = proxied(Gate(Guard(attempt_of(layers=allowing(host, ask=(host,))))))
    assert asked(connect, f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()).startswith(b"HTTP/1.1 403 ")
    assert [each.verdict for each in proxy.judged] == ["ask"]
    assert canary.connections == 0


def test_a_host_that_does_not_answer_is_a_bad_gateway(proxied):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
    _, connect = proxied(gate_of(host))
    assert asked(connect, f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()).startswith(b"HTTP/1.1 502 ")


# ------------------------------------------------------------------------------- bounds


def tunnel(connect, server):
    sock = connect()
    sock.sendall(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
    assert sock.recv(1000).startswith(b"HTTP/1.1 200 ")
    return sock


def test_no_more_bytes_pass_than_agreed(serve, proxied):
    server = serve(saying(b"x" * 2_000_000))
    proxy, connect = proxied(gate_of(f"127.0.0.1:{server.port}"), Caps(bytes=300_000))
    sock = tunnel(connect, server)
    sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert len(everything(sock)) <= 300_000
    assert proxy.passed <= 300_000 + 65_536


def test_no_more_connections_are_open_than_agreed(serve, proxied):
    server = serve(slowly([b""], 5))
    _, connect = proxied(gate_of(f"127.0.0.1:{server.port}"), Caps(at_once=2))
    kept = [tunnel(connect, server) for _ in range(2)]
    assert asked(connect, b"").startswith(b"HTTP/1.1 503 ")
    kept[0].close()
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with connect() as sock:
            sock.sendall(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
            if sock.recv(1000).startswith(b"HTTP/1.1 200 "):
                return
    pytest.fail("a place that became free was not given to anybody")


def test_no_more_connections_are_made_in_all_than_agreed(serve, proxied):
    server = serve(saying(b"ok"))
    host = f"127.0.0.1:{server.port}"
    _, connect = proxied(gate_of(host), Caps(connections=3))
    request = f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    found = [asked(connect, request)[9:12] for _ in range(5)]
    assert found == [b"200"] * 3 + [b"503"] * 2


def test_whoever_says_nothing_is_not_waited_for(serve, proxied):
    server = serve(slowly([b""], 20))
    _, connect = proxied(gate_of(f"127.0.0.1:{server.port}"), Caps(head_seconds=0.4, idle_seconds=0.5, seconds=1.5))
    began = time.monotonic()
    assert asked(connect, b"GET http://").startswith(b"HTTP/1.1 408 ")
    assert everything(tunnel(connect, server)) == b""
    sock = tunnel(connect, server)
    with contextlib.suppress(OSError):  # it is cut off although it goes on talking
        for _ in range(40):
            sock.sendall(b"x")
            time.sleep(0.1)
    assert time.monotonic() - began < 12


def test_stopping_cuts_everything_off(serve, proxied):
    server = serve(slowly([b""], 20))
    proxy, connect = proxied(gate_of(f"127.0.0.1:{server.port}"))
    before = threading.active_count()
    sock = tunnel(connect, server)
    began = time.monotonic()
    proxy.stop()
    assert time.monotonic() - began < 3
    assert everything(sock) == b""
    with contextlib.suppress(ConnectionError):
        assert everything(connect()) == b""
    assert threading.active_count() <= before
    proxy.stop()


@pytest.mark.campaign("requests through the proxy, many at once", "S5", of="requests", times=120, lot=False)
def test_many_at_once_get_what_is_theirs(serve, proxied, trials):
    def echo(wire, head, body):
        saying(head.split(" ")[1].encode() * 50)(wire, head, body)

    server = serve(echo)
    host = f"127.0.0.1:{server.port}"
    proxy, connect = proxied(gate_of(host), Caps(connections=10**9, bytes=10**15))
    wrong = []

    def client(n):
        for m in range(10):
            path = f"/{n}-{m}"
            found = asked(connect, f"GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            if not found.endswith(path.encode() * 50):
                wrong.append(found)

    for _ in trials(1):
        threads = [threading.Thread(target=client, args=(n,)) for n in range(12)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert wrong == []
    assert proxy.passed > 0
