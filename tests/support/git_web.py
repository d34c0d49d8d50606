"""Repositories over smart HTTP: git's own server behind a small one that asks who is there, and can misbehave."""

import base64
import os
import socket
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BACKEND = "/usr/lib/git-core/git-http-backend"
USER, PASSWORD = "ada", "canary-Jq7Rm2Wz"


class Web(ThreadingHTTPServer):
    """Serves the repositories below a directory."""

    daemon_threads = True

    def __init__(self, root, *, login=True, tls=None, address="127.0.0.1"):
        super().__init__((address, 0), Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.root, self.login, self.tls = root, login, tls
        self.seen = []
        """Method, path and headers of each request."""
        self.instead = {}
        """By a part of the path: a function that answers in place of git."""
        self.after = lambda handler: None
        """Called when git has taken in a push, before the answer goes out."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name, host="127.0.0.1"):
        return f"{'https' if self.tls else 'http'}://{host}:{self.server_port}/{name}"

    def handle_error(self, request, client_address):
        """A client that hangs up is no news."""

    def close(self):
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.do_GET()

    def do_GET(self):
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        body = self.read_body()
        for part, answer in self.server.instead.items():
            if part in self.path:
                return answer(self)
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.server.login and self.headers.get("Authorization") != wanted:
            return self.answer(401, b"who?", **{"WWW-Authenticate": 'Basic realm="git"'})
        return self.from_git(body)

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def from_git(self, body):
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.server.root), "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "REMOTE_USER": USER,
            "REQUEST_METHOD": self.command, "PATH_INFO": path, "QUERY_STRING": query, "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        done = subprocess.run([BACKEND], input=body, env=env, capture_output=True, check=False)
        if self.command == "POST" and path.endswith("git-receive-pack"):
            self.server.after(self)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.answer(int(headers.pop("Status", "200").split()[0]), rest, **headers)

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        """At once, whatever was to be said."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        pass
