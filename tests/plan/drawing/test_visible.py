import unicodedata

import pytest

from perdure.plan.visible import visible

# Marks of format (Cf) that have a shape of their own.
SHAPED = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\r\n\tthree", "two lines three"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("a\x9bb", "a\\u009bb"),
        ("exe\u202efdp", "exe\\u202efdp"),
        ("no\u200bwidth\ufeff", "no\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half\ud800", "half\\ud800"),
        ("日本語 ⚠\ufe0f é", "日本語 ⚠\ufe0f é"),
    ],
)
def test_shows_what_would_be_hidden(text, shown):
    assert visible(text) == shown


def test_every_control_format_and_separator_character_is_shown():
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    letters = [chr(code) for code in range(0x110000) if code not in SHAPED]
    left = [hex(ord(each)) for each in letters if unicodedata.category(each) in hidden and visible(each) == each]
    assert left == []


def test_nothing_that_xml_forbids_is_left():
    shown = visible("".join(map(chr, range(0x110000))))
    assert not any(code < 0x20 or code in (0xFFFE, 0xFFFF) or 0xD800 <= code <= 0xDFFF for code in map(ord, shown))


def test_long_texts_are_cut_after_they_are_made_visible():
    assert visible("a" * 10, 10) == "a" * 10
    assert visible("a" * 11, 10) == "a" * 9 + "…"
    assert len(visible("\x00" * 50, 10)) == 10
