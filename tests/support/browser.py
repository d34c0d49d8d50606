"""The web page in a real browser, before a real server: an engine, its API, and chromium."""

import asyncio
import os
import shutil
import socket
from contextlib import asynccontextmanager

import pytest
import uvicorn
from build_page import BUILT
from playwright.async_api import async_playwright, expect

from perdure import Engine
from perdure.server import app_of
from perdure.world import Alone

CHROMIUM = shutil.which("chromium")
PATIENCE = 60_000
"""Milliseconds that something may take to be seen, on the slowest of machines."""
expect.set_options(timeout=PATIENCE)


def lacking():
    """What is missing for tests in a browser; empty: nothing."""
    if CHROMIUM is None:
        return "there is no chromium"
    return "" if (BUILT / "index.html").is_file() else "the page is not built: run `make page`"


def need_browser():
    """In CI nothing is left out."""
    if missing := lacking():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)


@asynccontextmanager
async def served(port=0, world=None, **settings):
    """An engine behind its API, on a port of this machine; its address and itself."""
    async with Engine.open(**settings) as engine:
        listener = socket.create_server(("127.0.0.1", port))
        config = uvicorn.Config(
            app_of(engine, world or Alone()), log_level="warning", lifespan="off", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", engine
        finally:
            server.should_exit = True
            await task
            listener.close()


class Watch:
    """A page that is looked at, and everything in it that a user would not want to see."""

    def __init__(self, page):
        self.page = page
        self.wrong = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", self._note)
        page.on("request", self._leaves)

    def _note(self, message):
        if (
            message.type in {"error", "warning"}
            and "Failed to load resource" not in message.text
            and "EventSource" not in message.text
        ):
            self.wrong.append(message.text)

    def _leaves(self, request):
        if not request.url.startswith(("http://127.0.0.1:", "blob:", "data:")):
            self.wrong.append(f"asked {request.url}")


@asynccontextmanager
async def browsing(dark=False, width=1280, height=860):
    """A page of a browser. What goes wrong in it fails the test."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            context = await browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                reduced_motion="reduce",
            )
            page = await context.new_page()
            page.set_default_timeout(PATIENCE)
            watch = Watch(page)
            yield page
            assert watch.wrong == []
        finally:
            await browser.close()
