"""The filter of system calls, run as the kernel would run it."""

import errno
import struct

import pytest

from perdure.tools.sandbox import seccomp

ALLOWED = seccomp.ALLOW
REFUSED = 0x50000 | errno.EPERM
UNKNOWN = 0x50000 | errno.ENOSYS


def verdict(program, number, *arguments, arch="x86_64"):
    """What a BPF program says of a call."""
    lines = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    words = [*arguments, *(0,) * (6 - len(arguments))]
    data = struct.pack("<iIQ6Q", number, seccomp.ARCHITECTURES[arch], 0, *(word & (2**64 - 1) for word in words))
    at, held = 0, 0
    while True:
        code, yes, no, k = lines[at]
        at += 1
        match code:
            case seccomp.LOAD:
                (held,) = struct.unpack_from("<I", data, k)
            case seccomp.AND:
                held &= k
            case seccomp.RETURN:
                return k
            case seccomp.EQUAL:
                at += yes if held == k else no
            case seccomp.AT_LEAST:
                at += yes if held >= k else no
            case seccomp.ANY_BIT:
                at += yes if held & k else no


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_what_is_denied_is_denied_whatever_it_is_given(machine):
    column = list(seccomp.ARCHITECTURES).index(machine)
    program = seccomp.program(machine)
    for name, numbers in seccomp.DENIED.items():
        if numbers[column] is not None:
            assert verdict(program, numbers[column], 1, 2, 3, arch=machine) == REFUSED, name


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_arguments_decide(machine):
    column = list(seccomp.ARCHITECTURES).index(machine)
    program = seccomp.program(machine)
    number = {name: numbers[column] for name, numbers in seccomp.JUDGED.items()}

    def said(name, *arguments):
        return verdict(program, number[name], *arguments, arch=machine)

    nonblocking, on_exec = 0o4000, 0o2000000
    assert said("socket", 2, 1 | nonblocking | on_exec) == ALLOWED
    assert said("socket", 10, 2) == ALLOWED
    for family in (0, 1, 16, 17, 38, 40):
        assert said("socket", family, 1) == REFUSED, family
    assert said("socket", 2, 3) == REFUSED, "raw"
    assert said("socketpair", 1, 1 | on_exec) == ALLOWED
    assert said("socketpair", 1, 5) == ALLOWED
    assert said("socketpair", 1, 2 | nonblocking) == REFUSED, "a datagram could be sent to any socket"
    assert said("ioctl", 0, 0x5401) == ALLOWED
    assert said("ioctl", 0, 0x5412) == REFUSED
    assert said("ioctl", 0, 0x100005412) == REFUSED, "the kernel looks at half of it too"
    assert said("clone", 0x11) == ALLOWED
    for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert said("clone", bit | 0x11) == REFUSED
    assert said("clone3") == UNKNOWN


def test_other_architectures_and_numbers():
    program = seccomp.program("x86_64")
    assert verdict(program, 0, arch="aarch64") == seccomp.KILL
    assert verdict(program, 0) == ALLOWED
    assert verdict(program, seccomp.X32 | 0) == UNKNOWN
    assert verdict(program, seccomp.LAST_KNOWN + 1) == UNKNOWN
    assert verdict(program, -1) == UNKNOWN


def test_without_internet_there_are_only_pairs():
    program = seccomp.program("x86_64", internet=False)
    assert verdict(program, 41, 2, 1) == REFUSED
    assert verdict(program, 53, 1, 1) == ALLOWED


def test_a_machine_without_a_table():
    assert not seccomp.is_known("riscv64")
    with pytest.raises(ValueError, match="riscv64"):
        seccomp.program("riscv64")
