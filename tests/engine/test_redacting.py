import json
import os
import time

import pytest
from encodings_of import cores, forms
from hypothesis import given
from hypothesis import strategies as st

from perdure.engine.redacting import Redactor, forms_of

PLAIN = "sk-live-4f9aQzR7tKpW2mXc"
ODD = 'pa"ss\\wörd/+ &é\n?=%<x>'
SECRETS = {"KEY": PLAIN, "ODD": ODD}
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize("secret", [PLAIN, ODD, "åß∂ƒ-©secret", "p@ss", "0123456789" * 20])
def test_no_form_of_a_secret_is_left_in_a_text(secret):
    redactor = Redactor({"A_KEY": secret})
    for name, form in forms(secret).items():
        clean = redactor.text(f"before {form} after")
        assert not [core for core in cores(secret) if len(core) > 5 and core in clean], name
        assert "«secret A_KEY»" in clean or len(secret) < 6, name
        assert clean.startswith("before ")
        assert clean.endswith(" after")


@pytest.mark.parametrize("secret", [PLAIN, ODD])
def test_no_form_is_left_in_a_value(secret):
    redactor = Redactor({"KEY": secret})
    told = forms(secret)
    value = {"deep": [{"list": list(told.values())}, told], secret: 1, "n": 2.5, "none": None}
    clean = redactor.value(value)
    text = json.dumps(clean, ensure_ascii=False)
    assert not [core for core in cores(secret) if core in text]
    assert (clean["n"], clean["none"], clean["«secret KEY»"]) == (2.5, None, 1)


def test_what_holds_no_secret_is_handed_on_untouched():
    redactor = Redactor(SECRETS)
    value = {"a": ["b", {"c": 1}], "d": "sk-live", "e": "«secret KEY»"}
    assert redactor.value(value) is value
    assert redactor.text("sk-live and nothing more") == "sk-live and nothing more"
    assert Redactor({}).value(value) is value
    assert Redactor({}).flow().text("abc") == "abc"


def test_a_secret_that_goes_on_in_the_next_piece_is_seen():
    redactor = Redactor(SECRETS)
    for cut in range(1, len(PLAIN)):
        pieces = ["line 1", f"x {PLAIN[:cut]}", f"{PLAIN[cut:]} y", "line 4"]
        assert redactor.value({"lines": pieces}) == {"lines": ["line 1", "x «secret KEY»", " y", "line 4"]}
    assert "".join(redactor.value([*PLAIN])) == "«secret KEY»"


def test_a_secret_that_flows_by_in_pieces_is_seen():
    redactor = Redactor(SECRETS)
    for cut in range(1, len(PLAIN)):
        flow = redactor.flow()
        said = [flow.text(f"now {PLAIN[:cut]}"), flow.text(f"{PLAIN[cut:]} then")]
        assert PLAIN not in "".join(said)
        assert len(PLAIN[:cut]) < 6 or PLAIN[:cut] not in said[0]
        assert PLAIN[cut:] not in said[1]
        assert said[1].endswith(" then")
    flow = redactor.flow()
    assert PLAIN[3:] not in "".join(flow.text(letter) for letter in f"a{PLAIN}b")


def test_the_beginning_of_a_secret_at_a_cut_is_not_shown():
    redactor = Redactor(SECRETS)
    assert redactor.cut_text(f"failed with {PLAIN[:15]}…") == "failed with «secret KEY»…"
    assert redactor.cut_text(f"failed with {PLAIN[:15]}") == "failed with «secret KEY»"
    assert redactor.cut_text("failed with sk-l…") == "failed with sk-l…"


def test_secrets_that_overlap_go_together():
    redactor = Redactor({"A": "abcdefgh", "B": "efghijkl", "C": "abcdefghijklmnop"})
    assert redactor.text("-abcdefghijkl-") == "-«secret A»-"
    assert redactor.text("-abcdefghijklmnop-") in {"-«secret C»-", "-«secret A»-"}


def test_each_line_of_a_long_secret_is_one():
    redactor = Redactor({"PEM": PEM})
    indented = "\r\n".join(f"    {line}" for line in PEM.splitlines())
    assert "MIIEvQ" not in redactor.text(indented)
    assert "BKcwgg" not in redactor.text(f"only {PEM.splitlines()[2]}")
    assert redactor.text("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"


def test_a_short_secret_is_looked_for_as_it_is():
    assert Redactor({"PIN": "4711"}).text("the pin is 4711") == "the pin is «secret PIN»"
    assert Redactor({"PIN": "471"}).text("the pin is 471") == "the pin is 471"
    assert all(len(form) >= 6 or form == "4711" for form in forms_of("4711"))


@given(st.text(min_size=4, max_size=40), st.text(max_size=60), st.text(max_size=60))
def test_whatever_a_secret_is_it_is_gone(secret, before, after):
    if len(secret.strip()) < 4 or secret.strip() in "«secret X»":
        return
    clean = Redactor({"X": secret}).value({"a": before + secret + after})
    assert secret.strip() not in clean["a"].replace("«secret X»", "\0")


def test_time_grows_with_the_length_and_no_faster():
    redactor = Redactor({f"K{n}": os.urandom(24).hex() for n in range(20)})

    def seconds(letters):
        data = {"text": "0123456789abcdef" * (letters // 16)}
        began = time.perf_counter()
        assert redactor.value(data) is data
        return time.perf_counter() - began

    seconds(100_000)
    assert min(seconds(8_000_000) for _ in range(3)) < 40 * max(0.0005, min(seconds(800_000) for _ in range(5)))
