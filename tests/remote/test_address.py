"""Where a key may be sent."""

import pytest

from perdure.remote.address import checked
from perdure.remote.errors import BadAddress, Insecure


@pytest.mark.parametrize(
    "url",
    [
        "https://runs.example.org",
        "https://runs.example.org:8642/perdure",
        "http://localhost:1",
        "http://127.8.0.1",
        "http://[::1]:80",
    ],
)
def test_tls_goes_anywhere_and_plain_text_stays_on_this_machine(url):
    assert checked(url) == checked(f"{url}/") == url


@pytest.mark.parametrize(
    "url", ["http://runs.example.org", "http://10.0.0.1:8642", "http://localhost.example.org", "http://[::2]"]
)
def test_plain_text_to_another_machine_is_refused_unless_somebody_insists(url):
    with pytest.raises(Insecure):
        checked(url)
    assert checked(url, plain=True) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "runs",
        "ftp://runs",
        "https://",
        "https://ann:x@runs",
        "https://runs?key=1",
        "https://runs#x",
        "http://[::1",
        "https://runs:x",
    ],
)
def test_what_is_no_address_of_a_server_is_refused(url):
    with pytest.raises(BadAddress):
        checked(url, plain=True)
