"""Where providers are, and which of them may be asked."""

from dataclasses import replace

import pytest

from perdure.models.errors import NoKey, NoModel, NotNamed
from perdure.models.places import KNOWN, Place, Places, flaw_of
from perdure.models.provider import ProviderModel


def test_a_place_of_ones_own_comes_before_a_known_one():
    mine = Place("openai", "http://localhost:8080/v1")
    assert Places([mine]).find("openai") is mine


def test_naming_one_provider_leaves_the_others_out():
    assert Places().find("anthropic").keys == ("ANTHROPIC_API_KEY",)
    with pytest.raises(NotNamed) as found:
        Places([Place("box", "http://localhost/v1")]).find("anthropic")
    assert "[providers.anthropic]" in found.value.help
    assert Places(named=["anthropic"]).find("anthropic").provider == "anthropic"
    with pytest.raises(NoModel):
        Places(named=["box"]).find("box")


def test_the_first_key_that_is_set_counts():
    place = Place("google", keys=KNOWN["google"].keys)
    assert place.key({"GEMINI_API_KEY": "b"}) == "b"
    assert place.key({"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"}) == "a"
    with pytest.raises(NoKey, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        place.key({"GOOGLE_API_KEY": ""})
    assert Place("box", "http://localhost/v1").key({}) == ""


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost/v1", True),
        ("http://localhost.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("https://127.0.0.1.example/v1", False),
        ("", False),
    ],
)
def test_only_a_server_on_this_machine_costs_nothing(url, here):
    assert Place("box", url).is_here is here


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("box", "http://localhost:1/v1", ""), ""),
        (("box", "http://10.0.0.1/v1", ""), ""),
        (("box", "http://localhost/v1", "KEY"), ""),
        (("box", "https://models.example/v1", "KEY"), ""),
        (("anthropic", "", "MY_KEY"), ""),
        (("box", "", "KEY"), "no `url`"),
        (("Box!", "http://x/", ""), "small letters"),
        (("box", "https://x.example/", "sk-12345"), "never the key itself"),
        (("box", "http://x.example/", "KEY"), "https:// only"),
        (("box", "https://me:pw@x.example/", ""), "password"),
        (("box", "https://x.example/?k=1", ""), "query"),
        (("box", "file:///etc/passwd", ""), "http://"),
        (("box", "http://[::1/", ""), "no address"),
        (("box", "http://x:99999999/", ""), "no address"),
    ],
)
def test_a_place_that_cannot_be_meant_says_why(words, told):
    found = flaw_of(*words)
    assert told in found
    assert bool(found) == bool(told)


def test_what_nobody_has_a_price_for_is_unknown_and_never_free():
    """The user's own price counts, also for what the list knows, and for a server of one's own."""
    private = Place("box", "https://box.example/v1")
    assert ProviderModel(private, "m").price(1_000_000, 1_000_000) is None
    priced = replace(private, prices=(("m", (1.0, 4.0)),))
    assert ProviderModel(priced, "m").price(1_000_000, 500_000) == 3.0
    assert ProviderModel(priced, "n").price(1_000_000, 500_000) is None
    assert ProviderModel(replace(priced, url="http://localhost/v1"), "m").price(1_000_000, 0) == 1.0
    assert ProviderModel(replace(priced, url="http://localhost/v1"), "n").price(1_000_000, 0) == 0.0
    known = Place("openai", keys=("OPENAI_API_KEY",), prices=(("gpt-5", (100.0, 100.0)), ("*", (7.0, 7.0))))
    assert ProviderModel(known, "gpt-5").price(1_000_000, 0) == 100.0
    assert ProviderModel(known, "gpt-5-mini").price(1_000_000, 0) == 7.0
