"""Runs inside, before the command: opens the socket of the way out, hands it to those outside, becomes the command.

It stands alone: it is started by its path, and nothing of the package is there inside.
"""

import os
import socket
import sys


def main(pair: int, port: int, command: list[str]) -> None:
    """Wait for the word, hand the socket out, wait until it is served, go on."""
    if os.read(0, 3) != b"go\n":
        sys.exit(125)
    with socket.socket(fileno=pair) as outside, socket.socket() as listening:
        listening.bind(("127.0.0.1", port))
        listening.listen(64)
        socket.send_fds(outside, [b"L"], [listening.fileno()])
        if outside.recv(1) != b"K":
            sys.exit(125)
    try:
        os.execvp(command[0], command)  # noqa: S606  this is what it is for
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
