"""Tools of installed distributions: known by metadata, imported when wanted, and each broken one alone."""

import subprocess
import sys
import zipfile

import pytest

from perdure.tools import toolbox_of
from perdure.tools.errors import Duplicate, NotLoaded
from perdure.tools.offers import Offers

GOOD = """
import pathlib
pathlib.Path(__file__).with_suffix(".imported").touch()
from perdure import tool

@tool(name="{tool}", repeat="safe")
def called(city: str) -> str:
    return "{tool} of " + city

other = 3
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A place where packages are installed, on Python's path."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.setattr(sys, "path", [str(place), *sys.path])
    before = set(sys.modules)
    yield place
    for name in set(sys.modules) - before:
        del sys.modules[name]


def wheel(tmp_path, name, points, source="", version="1.2"):
    """A distribution, built by hand as a wheel."""
    module = name.replace("-", "_").lower()
    file = tmp_path / f"{module}-{version}-py3-none-any.whl"
    info = f"{module}-{version}.dist-info"
    lines = "\n".join(f"{tool} = {address}" for tool, address in points)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{module}.py", source)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/entry_points.txt", f"[perdure.tools]\n{lines}\n\n[console_scripts]\nx = y:z\n")
        archive.writestr(f"{info}/RECORD", "")
    return file


def install(site, file):
    """Unpacked as installers do; pip itself is tried once, below."""
    with zipfile.ZipFile(file) as archive:
        archive.extractall(site)


def a_distribution(tmp_path, site, name, tool, **given):
    module = name.replace("-", "_").lower()
    install(site, wheel(tmp_path, name, [(tool, f"{module}:called")], GOOD.format(tool=tool), **given))
    return site / f"{module}.imported"


def ours(offers):
    return {name: offer.origin for name, offer in offers.offers.items()}


def test_an_offer_is_known_without_being_imported_and_loaded_when_wanted(tmp_path, site):
    mark = a_distribution(tmp_path, site, "perdure-weather", "weather.ask")
    offers = Offers(allowed=True)
    assert ours(offers) == {"weather.ask": "perdure-weather 1.2 (perdure_weather:called)"}
    assert list(offers) == ["weather.ask"]
    assert "weather.ask" in offers
    assert (len(offers), offers.loaded, mark.exists()) == (1, (), False)
    tool = offers["weather.ask"]
    assert tool("Oslo") == "weather.ask of Oslo"
    assert offers["weather.ask"] is tool
    assert offers.loaded == (tool,)
    assert mark.exists()
    with pytest.raises(KeyError):
        _ = offers["weather.tell"]


def test_pip_installs_such_a_distribution(tmp_path, site):
    file = wheel(
        tmp_path, "perdure-weather", [("weather.ask", "perdure_weather:called")], GOOD.format(tool="weather.ask")
    )
    words = [
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--disable-pip-version-check",
        "--target",
        str(site),
        str(file),
    ]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True)
    assert Offers(allowed=True)["weather.ask"]("Rome") == "weather.ask of Rome"


def test_nothing_is_looked_up_before_somebody_asks(tmp_path, site):
    def allowed():
        asked.append(1)
        return True

    asked = []
    offers = Offers(allowed)
    a_distribution(tmp_path, site, "perdure-weather", "weather.ask")
    box = toolbox_of([], offers)
    assert asked == []
    assert box.tools["weather.ask"].inputs["required"] == ["city"]
    assert len(box.tools) == 1
    assert list(box.tools) == ["weather.ask"]
    assert asked == [1]


@pytest.mark.parametrize(
    ("allowed", "wanted"),
    [(True, ["a.a", "b.b"]), (False, []), ([], []), (["perdure-a"], ["a.a"]), (("Perdure_B", "x"), ["b.b"])],
)
def test_whose_offers_count_is_for_the_user_to_say(tmp_path, site, allowed, wanted):
    a_distribution(tmp_path, site, "perdure-a", "a.a")
    a_distribution(tmp_path, site, "perdure-b", "b.b")
    assert sorted(Offers(allowed)) == wanted


def test_a_name_that_two_offer_is_refused_with_both_and_spoils_no_other(tmp_path, site):
    a_distribution(tmp_path, site, "perdure-a", "same.name")
    a_distribution(tmp_path, site, "perdure-b", "same.name", version="3")
    a_distribution(tmp_path, site, "perdure-c", "c.c")
    offers = Offers(allowed=True)
    assert list(offers) == ["c.c"]
    with pytest.raises(Duplicate) as caught:
        _ = offers["same.name"]
    assert "perdure-a 1.2 (perdure_a:called)" in caught.value.message
    assert "perdure-b 3 (perdure_b:called)" in caught.value.message
    with pytest.raises(Duplicate):
        _ = toolbox_of([], offers).tools["same.name"]
    assert Offers(["perdure-b"])["same.name"].name == "same.name", "the user can choose one"


@pytest.mark.parametrize("name", ["text.upper", "shell.run"])
def test_a_built_in_name_cannot_be_taken(name, tmp_path, site):
    mark = a_distribution(tmp_path, site, "perdure-a", name)
    offers = Offers(allowed=True)
    assert list(offers) == []
    assert "built in" in offers.refusals[name].message
    assert not mark.exists()


BROKEN = {
    "raise RuntimeError('no')": "RuntimeError: no",
    "import nothing_like_this": "nothing_like_this",
    "raise SystemExit(3)": "SystemExit",
    "def called(: pass": "SyntaxError",
    "": "called",
    "called = 3": "no tool",
    "from perdure import tool\n@tool(name='x.y')\ndef called() -> None: ...": 'the tool "x.y"',
    "from perdure import tool\n@tool(name='w.ask', effects=['x'])\ndef called() -> None: ...": "no effect",
}


@pytest.mark.parametrize("source", BROKEN)
def test_a_broken_distribution_breaks_no_other(tmp_path, site, source):
    install(site, wheel(tmp_path, "perdure-broken", [("w.ask", "perdure_broken:called")], source))
    a_distribution(tmp_path, site, "perdure-good", "good.one")
    offers = Offers(allowed=True)
    with pytest.raises(NotLoaded) as caught:
        _ = offers["w.ask"]
    assert BROKEN[source] in caught.value.message
    assert "perdure-broken 1.2" in caught.value.message
    assert "entry_points" in caught.value.help
    [flaw] = offers.load_all()
    assert flaw.code == "PRD5005"
    assert [each.name for each in offers.loaded] == ["good.one"]


@pytest.mark.parametrize("name", ["weather", "weather.", "1.2", "a b.c", "\u202ex.y"])
def test_a_name_that_is_none_is_refused(tmp_path, site, name):
    install(site, wheel(tmp_path, "perdure-odd", [(name, "m:f"), ("good.one", "m:f")]))
    offers = Offers(allowed=True)
    assert list(offers) == ["good.one"]
    [flaw] = offers.refusals.values()
    assert "no name for a tool" in flaw.message


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"[perdure.tools\nx", b"[perdure.tools]\nx\n"])
def test_metadata_that_cannot_be_read_breaks_no_other(tmp_path, site, damage):
    a_distribution(tmp_path, site, "perdure-broken", "w.ask")
    a_distribution(tmp_path, site, "perdure-good", "good.one")
    (site / "perdure_broken-1.2.dist-info" / "entry_points.txt").write_bytes(damage)
    assert list(Offers(allowed=True)) == ["good.one"]


def test_of_two_installations_the_one_counts_that_python_imports(tmp_path, site, monkeypatch):
    later = tmp_path / "later"
    later.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(later)])
    a_distribution(tmp_path, site, "perdure-a", "new.name", version="2")
    a_distribution(tmp_path, later, "perdure-a", "old.name", version="1")
    assert ours(Offers(allowed=True)) == {"new.name": "perdure-a 2 (perdure_a:called)"}


def test_a_name_that_is_known_is_not_looked_for(tmp_path, site):
    mark = a_distribution(tmp_path, site, "perdure-a", "a.a")
    [mine] = [Offers(allowed=True)["a.a"]]
    mark.unlink()
    offers = Offers(allowed=True)
    assert toolbox_of([mine], offers).tools["a.a"].inputs
    assert offers.loaded == ()
