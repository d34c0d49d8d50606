"""E16: the files of the page, as the server hands them out."""

import httpx2
import pytest
from fastapi import FastAPI

from perdure.server.page import PLACES, add_page
from perdure.server.problems import tell_all
from perdure.server.scopes import OPEN, scope_for


@pytest.fixture
def built(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Perdure</title>")
    (tmp_path / "assets" / "index-1a2b.js").write_text("run()")
    (tmp_path / "secret.txt").write_text("not for anybody")
    return tmp_path


@pytest.fixture
async def client(built):
    app = FastAPI()
    tell_all(app)
    add_page(app, built)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://perdure") as client:
        client.app = app
        yield client


@pytest.mark.parametrize("path", PLACES)
async def test_e16_every_place_in_the_page_is_an_address(client, path):
    answer = await client.get(path.replace("{run}", "r_1?step=a/1.2&at=3"))
    assert (answer.status_code, answer.text) == (200, "<!doctype html><title>Perdure</title>")
    assert answer.headers["cache-control"] == "no-cache"


async def test_the_page_may_run_and_reach_nothing_but_what_is_ours(client):
    policy = (await client.get("/")).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


async def test_what_has_a_hash_in_its_name_is_asked_for_once(client):
    answer = await client.get("/assets/index-1a2b.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path", ["/assets/..%2fsecret.txt", "/assets/index-0.js", "/secret.txt", "/assets/", "/assets/%00"]
)
async def test_nothing_else_is_handed_out(client, path):
    answer = await client.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "PRD6001")


async def test_a_page_that_was_not_built_is_told_of(client, built):
    (built / "index.html").unlink()
    answer = await client.get("/")
    assert (answer.status_code, answer.json()["code"]) == (503, "PRD6060")
    assert "make page" in answer.json()["help"]


async def test_the_files_of_the_page_are_for_everybody(client):
    asked = {"type": "http", "path": "/", "method": "GET", "headers": [], "root_path": ""}
    assert scope_for(client.app.routes, asked) == OPEN
