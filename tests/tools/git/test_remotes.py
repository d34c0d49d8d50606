"""Where a push goes: read as data, whoever wrote it, and refused if it could mean anything else."""

import pytest

CANARY = "hunter2-in-the-address"


def refused(shop, url, *, named):
    if named:
        shop.git("config", "remote.odd.url", url)
    return shop.fail("git.push", branch="older", remote="odd" if named else url)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    "url",
    ["ssh://git@example.com/x", "git+ssh://example.com/x", "SSH://example.com/x", "git://example.com/x", "ftp://x/y"],
)
def test_what_is_neither_of_the_web_nor_a_path_is_refused_with_a_word_about_why(shop, url, named):
    failure = refused(shop, url, named=named)
    assert (failure.kind, failure.detail["code"]) == ("unavailable", "PRD5207")
    assert "not offered" in failure.message
    assert "https://" in failure.message
    assert ("keys" in failure.message) == ("ssh" in url.lower())


def test_ssh_is_known_by_its_short_form_too(shop):
    assert "ssh goes by keys" in refused(shop, "git@example.com:x/y.git", named=True).message


@pytest.mark.parametrize("url", ["ext::sh -c true", "--upload-pack=x", "fd::17", "https::http://x/y", "a\nb"])
def test_what_could_run_a_program_is_refused(shop, url):
    assert refused(shop, url, named=True).detail["code"] == "PRD5207"
    assert refused(shop, url, named=False).kind == "invalid"


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    "url",
    [
        f"https://ada:{CANARY}@example.com/x.git",
        f"https://{CANARY}@example.com/x.git",
        f"https://example.com/x.git?token={CANARY}",
        f"https://example.com/x.git#{CANARY}",
        f"HTTP://a:{CANARY}@b@example.com/",
    ],
)
def test_s6_an_address_with_something_secret_in_it_is_refused_and_not_shown(shop, url, named):
    failure = refused(shop, url, named=named)
    assert (failure.kind, failure.detail["code"]) == ("invalid", "PRD5207")
    assert CANARY not in str(failure)


@pytest.mark.parametrize(
    "url", ["https://127.1/x", "https://0x7f.0.0.1/x", "https://example.com./x", "https://exa mple.com/x", "https:///x"]
)
def test_a_host_that_can_be_read_in_two_ways_is_refused(shop, url):
    assert refused(shop, url, named=True).kind == "invalid"
    assert refused(shop, url, named=False).kind == "invalid"


def test_a_path_is_no_address(shop, tmp_path):
    for text in (f"file://{tmp_path}/origin.git", str(tmp_path / "origin.git"), "../origin.git"):
        assert refused(shop, text, named=False).kind == "invalid"
