"""Servers on the loopback that answer as a test wants, and remember what they were asked."""

import contextlib
import socket
import ssl
import subprocess
import threading
import time


class Server:
    """Answers each connection by calling a function with its socket and the request's head and body."""

    def __init__(self, answer, context=None, family=socket.AF_INET, listens=True):
        self.answer, self.context, self.listens = answer, context, listens
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.asked = []
        """Heads and bodies, as they came."""
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _one(self, client):
        with contextlib.suppress(OSError, ssl.SSLError, ValueError), client:
            client.settimeout(20)
            wire = self.context.wrap_socket(client, server_side=True) if self.context else client
            with wire:
                head, body = read_request(wire) if self.listens else ("", b"")
                self.asked.append((head, body))
                self.answer(wire, head, body)

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # else the one who waits in accept holds it open
        self.listener.close()

    def headers(self, n=-1):
        return self.headers_of(self.asked[n][0])

    @staticmethod
    def headers_of(head):
        lines = head.split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def read_request(wire):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = wire.recv(65536)
        if not piece:
            raise ValueError("no request")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += wire.recv(65536)
    return head.decode("latin-1"), body


def saying(body=b"", status="200 OK", **headers):
    """An answer that is always the same."""
    told = {"content-length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items() if value is not None)

    def answer(wire, head, body_):
        wire.sendall(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body)

    return answer


def slowly(pieces, pause):
    """An answer that comes in pieces, with pauses between them."""

    def answer(wire, head, body):
        for piece in pieces:
            wire.sendall(piece)
            time.sleep(pause)

    return answer


def hang_up(wire, head, body):
    """No answer at all."""


def authority(directory, name="localhost"):
    """A certificate authority of our own, and a server's certificate that it has signed."""
    ca, key, cert = directory / "ca.pem", directory / "key.pem", directory / "cert.pem"
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subprocess.run(
        [*new, "-keyout", directory / "ca.key", "-out", ca, "-subj", "/CN=test authority"],
        capture_output=True,
        check=True,
    )
    request = [*new, "-keyout", key, "-out", cert, "-subj", f"/CN={name}", "-CA", ca, "-CAkey", directory / "ca.key"]
    request += ["-addext", f"subjectAltName=DNS:{name}", "-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(request, capture_output=True, check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return ca, context
