"""The filter of system calls, as a BPF program made here: no library is needed, and every rule can be read.

Laws, held by the tests:

1. A call by another architecture's numbers ends the process; the x32 numbers do not exist.
2. A call that is newer than this table does not exist, so that what it can do was judged by somebody first.
3. Sockets are of the Internet or come in connected pairs. No Unix socket can be reached.
"""

import errno
import platform
import struct
from typing import Final

LOAD: Final = 0x20
EQUAL: Final = 0x15
AT_LEAST: Final = 0x35
ANY_BIT: Final = 0x45
AND: Final = 0x54
RETURN: Final = 0x06
ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
_ERRNO: Final = 0x00050000
_NUMBER, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24
X32: Final = 0x40000000
ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
LAST_KNOWN: Final = 472
NEW_NAMESPACES: Final = 0x7E020000
"""CLONE_NEW… of mounts, control groups, host names, IPC, users, processes and networks."""
_INTERNET: Final = (2, 10)
_STREAM, _DATAGRAM = 1, 2
_TYPING: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: what types for the person at the terminal."""

DENIED: Final[dict[str, tuple[int | None, int | None]]] = {
    # looking into or changing other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "kcmp": (312, 272), "move_pages": (279, 239),
    # mounts and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467), "mount_setattr": (442, 442),
    "statmount": (457, 457), "listmount": (458, 458), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "fanotify_init": (300, 262), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # large parts of the kernel that commands have no business with
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "syslog": (103, 116), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42),
    "personality": (135, 92), "modify_ldt": (154, None), "uselib": (134, None), "ustat": (136, None),
    "sysfs": (139, None), "vserver": (236, None),
    # the machine
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "acct": (163, 89), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "iopl": (172, None), "ioperm": (173, None), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266), "vhangup": (153, 58),
}  # fmt: skip
"""Calls that are refused whatever they are given: their numbers on x86_64 and aarch64."""
JUDGED: Final[dict[str, tuple[int, int]]] = {
    "socket": (41, 198), "socketpair": (53, 199), "clone": (56, 220), "clone3": (435, 435), "ioctl": (16, 29),
}  # fmt: skip
"""Calls whose arguments decide."""
Instruction = tuple[int, int, int, int]


def program(machine: str = "", *, internet: bool = True) -> bytes:
    """The filter for a machine, as the kernel reads it. Without `internet` there are no sockets but pairs."""
    machine = machine or platform.machine()
    column = list(ARCHITECTURES).index(machine)
    lines: list[Instruction] = [
        (LOAD, 0, 0, _ARCH), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, _NUMBER),
    ]  # fmt: skip
    if machine == "x86_64":
        lines += [(AT_LEAST, 0, 1, X32), _answer(errno.ENOSYS)]
    lines += [(AT_LEAST, 0, 1, LAST_KNOWN + 1), _answer(errno.ENOSYS)]
    for numbers in DENIED.values():
        lines += _when(numbers[column], [_answer(errno.EPERM)])
    for name, numbers in JUDGED.items():
        lines += _when(numbers[column], _judged(name, internet=internet))
    return b"".join(struct.pack("HBBI", *line) for line in [*lines, (RETURN, 0, 0, ALLOW)])


def is_known(machine: str = "") -> bool:
    """Whether there is a filter for a machine."""
    return (machine or platform.machine()) in ARCHITECTURES


def _when(number: int | None, then: list[Instruction]) -> list[Instruction]:
    """What to do with a call of this number; it always ends in an answer."""
    return [] if number is None else [(EQUAL, 0, len(then), number), *then]


def _judged(name: str, *, internet: bool) -> list[Instruction]:
    match name:
        case "socket":
            return _sockets() if internet else [_answer(errno.EPERM)]
        case "socketpair":
            return _unless_equal(_ARG1, (_DATAGRAM,), mask=0xF)
        case "ioctl":
            return _unless_equal(_ARG1, _TYPING)
        case "clone":
            return [(LOAD, 0, 0, _ARG0), (ANY_BIT, 0, 1, NEW_NAMESPACES), _answer(errno.EPERM), (RETURN, 0, 0, ALLOW)]
        case _:  # the flags of clone3 lie in memory, where a filter cannot look; libraries then use clone
            return [_answer(errno.ENOSYS)]


def _sockets() -> list[Instruction]:
    """Streams and datagrams of the Internet; the kinds that go with `type` (close on exec, no blocking) are let be."""
    first, second = _INTERNET
    return [
        (LOAD, 0, 0, _ARG0), (EQUAL, 2, 0, first), (EQUAL, 1, 0, second), _answer(errno.EPERM),
        (LOAD, 0, 0, _ARG1), (AND, 0, 0, 0xF), (EQUAL, 2, 0, _STREAM), (EQUAL, 1, 0, _DATAGRAM),
        _answer(errno.EPERM), (RETURN, 0, 0, ALLOW),
    ]  # fmt: skip


def _unless_equal(argument: int, refused: tuple[int, ...], mask: int = 0xFFFFFFFF) -> list[Instruction]:
    lines: list[Instruction] = [(LOAD, 0, 0, argument), (AND, 0, 0, mask)]
    for value in refused:
        lines += [(EQUAL, 0, 1, value), _answer(errno.EPERM)]
    return [*lines, (RETURN, 0, 0, ALLOW)]


def _answer(number: int) -> Instruction:
    return (RETURN, 0, 0, _ERRNO | number)
