"""The wire format, as far as we read it."""

from hypothesis import given
from hypothesis import strategies as st

from perdure.plan.expr.wire import Message


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


@given(st.integers(0, 2**64 - 1), st.integers(1, 1000))
def test_numbers_are_read(value, number):
    message = Message(varint(number << 3) + varint(value))
    assert message.number(number) == value
    assert message.signed(number) == (value if value < 2**63 else value - 2**64)
    assert number in message
    assert number + 1 not in message


@given(st.lists(st.text()))
def test_every_writing_of_a_field_is_read(texts):
    message = Message(b"".join(field(3, text.encode()) for text in texts) + varint(5 << 3) + varint(300))
    assert [each.decode() for each in message.all(3)] == texts
    assert message.text(3) == (texts[-1] if texts else "")
    assert message.number(5) == 300


def test_messages_are_read_in_messages():
    message = Message(field(1, field(2, b"in")) + field(1, field(2, b"side")))
    assert [part.text(2) for part in message.parts(1)] == ["in", "side"]
    assert message.part(1).text(2) == "side"
    assert message.part(9).text(2) == ""


@given(st.lists(st.integers(0, 2**40)))
def test_packed_numbers_are_read(numbers):
    assert list(Message(field(2, b"".join(varint(each) for each in numbers))).packed(2)) == numbers


def test_fixed_widths_are_read():
    message = Message(b"\x09\x00\x00\x00\x00\x00\x00\xf8\xbf" + b"\x15\x01\x02\x03\x04" + field(3, b"x"))
    assert message.double(1) == -1.5
    assert message.text(3) == "x"
