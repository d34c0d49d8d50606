"""The page as it is built and packed: nobody gets a package without it, and nothing in it is written into the page itself."""

import importlib.util
import os
import re
from pathlib import Path

import build_page as building
import page_types
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def hook():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda root: module.PageHook(str(root), {}, None, None, str(root), "wheel")


@pytest.fixture
def built():
    if not (building.BUILT / "index.html").is_file():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("the page is not built: run `make page`")
    return building.BUILT


def test_a_package_without_the_page_is_not_built(hook, tmp_path):
    with pytest.raises(FileNotFoundError, match="run `make page`"):
        hook(tmp_path).initialize("standard", {})


def test_whoever_works_on_perdure_needs_no_page(hook, tmp_path):
    hook(tmp_path).initialize("editable", {})


def test_a_package_with_the_page_is_built(hook, tmp_path):
    index = tmp_path / "src/perdure/web/static/index.html"
    index.parent.mkdir(parents=True)
    index.touch()
    hook(tmp_path).initialize("standard", {})


def test_what_the_page_is_made_of_is_pinned_and_comes_from_no_place_by_name():
    lock = (ROOT / "web/package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    packages = re.findall(r'^    "node_modules/', lock, re.MULTILINE)
    assert len(packages) == len(re.findall(r'"integrity": "sha512-', lock))


def test_a_page_is_old_as_soon_as_a_source_is_newer(tmp_path, monkeypatch):
    web, built = tmp_path / "web", tmp_path / "built"
    for each in (web / "src/main.tsx", built / "index.html"):
        each.parent.mkdir(parents=True)
        each.touch()
    monkeypatch.setattr(building, "WEB", web)
    monkeypatch.setattr(building, "BUILT", built)
    os.utime(built / "index.html", (1_000, 1_000))
    os.utime(web / "src/main.tsx", (999, 999))
    assert not building.is_old()
    os.utime(web / "src/main.tsx", (1_001, 1_001))
    assert building.is_old()


@pytest.mark.usefixtures("built")
def test_the_types_of_the_page_are_those_of_the_server():
    assert page_types.TYPES.read_text(encoding="utf-8") == page_types.made(), "run `make fix`"


@pytest.mark.usefixtures("built")
def test_types_of_another_server_are_made_anew(tmp_path, monkeypatch):
    old = page_types.text()
    stale = tmp_path / "schema.d.ts"
    stale.write_text(old.replace("sha256:", "sha256:0", 1), encoding="utf-8")
    monkeypatch.setattr(page_types, "TYPES", stale)
    assert page_types.text() == old


def test_the_page_holds_no_script_and_no_style_of_its_own(built):
    page = (built / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script[^>]*>", page)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:", page)


def test_those_whose_work_is_in_the_page_are_named(built):
    notices = (built / "licenses.md").read_text(encoding="utf-8")
    for name in ("react", "@xyflow/react", "elkjs", "@tanstack/react-query"):
        assert name in notices
