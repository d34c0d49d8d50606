"""S6: secrets are named in the file, looked up when a server is started, and stand nowhere else."""

import pytest

from perdure.tools.mcp.errors import MissingValue
from perdure.tools.mcp.references import Values, flaws_in

VALUES = Values({"KEY": "s-1"}, {"HOME": "/home/me", "EMPTY": ""})


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("Bearer ${secrets.KEY}", "Bearer s-1"),
        ("${HOME}/x ${env.HOME} ${env:HOME}", "/home/me/x /home/me /home/me"),
        ("${NOT:-else}", "else"),
        ("${EMPTY:-else}", ""),
        ("$HOME $${", "$HOME $${"),
    ],
)
def test_references_are_looked_up(text, filled):
    assert VALUES.fill(text, "here") == filled


@pytest.mark.parametrize("text", ["${secrets.HOME}", "${KEY}", "${env.KEY}"])
def test_a_secret_is_no_variable_and_a_variable_no_secret(text):
    with pytest.raises(MissingValue, match="here needs the"):
        VALUES.fill(text, "here")


def test_what_is_looked_up_is_not_looked_at_again():
    assert Values({"A": "${secrets.B}", "B": "b"}, {}).fill("${secrets.A}", "here") == "${secrets.B}"


@pytest.mark.parametrize("text", ["${", "${}", "${a.b}", "${secrets.}", "${1}", "${A"])
def test_what_is_no_reference_is_told(text):
    assert list(flaws_in(text))
