"""Ways out of a sandbox. Runs inside one, and as a control in one that is open, and says for each way how far it got.

It stands alone: the standard library is all there is. Each way is tried in a process of its own, against a bait.
An empty word: blocked. Anything else: what was reached.
"""

import contextlib
import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import struct
import sys
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
REFUSED = (errno.EPERM, errno.ENOSYS)
BAIT = {}
WAYS = {}


def way(function):
    WAYS[function.__name__.replace("_", " ")] = function
    return function


def read(path):
    """What is in a file, or nothing if it cannot be read."""
    with contextlib.suppress(OSError):
        return Path(path).read_bytes()[:200].decode("latin-1")
    return ""


def opened(path, flags):
    """Whether a file can be opened; nothing is written, and what was made for it goes again."""
    with contextlib.suppress(OSError):
        os.close(os.open(path, flags | os.O_NONBLOCK))
        if flags & os.O_CREAT:
            os.unlink(path)
        return f"{path} can be opened"
    return ""


def call(number, *arguments):
    """Whether a system call gets as far as the kernel's own checks."""
    result = LIBC.syscall(number, *arguments)
    number = ctypes.get_errno()
    return "" if result < 0 and number in REFUSED else f"answered {result}, {errno.errorcode.get(number, number)}"


def made(*arguments):
    try:
        with socket.socket(*arguments):
            return "a socket was made"
    except OSError:
        return ""


# ------------------------------------------------------------------ reading


@way
def read_passwords():
    return read("/etc/shadow")


@way
def read_a_secret_outside():
    return read(BAIT["secret"])


@way
def list_a_home():
    with contextlib.suppress(OSError):
        return " ".join(os.listdir(BAIT["home"]))
    return ""


@way
def read_the_state_of_the_engine():
    return read(BAIT["state"] + "/journal")


@way
def read_through_the_root_of_process_1():
    return read("/proc/1/root" + BAIT["secret"])


@way
def read_by_climbing():
    return read("../" * 20 + BAIT["secret"])


@way
def read_through_a_link_that_was_there():
    return read("leak")


@way
def read_through_a_link_made_here():
    Path("mine").symlink_to(BAIT["secret"])
    return read("mine")


@way
def link_a_file_from_outside():
    with contextlib.suppress(OSError):
        os.link(BAIT["secret"], "hard")
        return read("hard")
    return ""


@way
def see_the_environment_of_process_1():
    return "seen" if BAIT["canary"] in read("/proc/1/environ") else ""


@way
def see_the_environment_of_anybody():
    seen = [each for each in Path("/proc").glob("[0-9]*/environ") if BAIT["canary"] in _whole(each)]
    return str(seen[0]) if seen else ""


def _whole(path):
    with contextlib.suppress(OSError):
        return path.read_bytes().decode("latin-1")
    return ""


@way
def inherit_an_api_key():
    return os.environ.get("ESCAPE_CANARY", "")


@way
def see_other_processes():
    return read(f"/proc/{BAIT['engine']}/comm")


@way
def see_keys_of_the_machine():
    return read("/proc/keys")


@way
def see_how_the_machine_was_started():
    return read("/proc/cmdline")


@way
def see_the_memory_of_the_kernel():
    return read("/proc/kcore") or read("/proc/kallsyms").replace("0", "").strip()[:0] or read("/proc/vmallocinfo")


@way
def see_devices_of_the_machine():
    with contextlib.suppress(OSError):
        return " ".join(sorted(os.listdir("/sys"))[:5])
    return ""


@way
def see_disks():
    return " ".join(each.name for each in Path("/dev").iterdir() if each.is_block_device())


@way
def see_shared_memory():
    return read(BAIT["shared"])


@way
def use_shared_memory_of_others():
    return "attached" if LIBC.shmget(BAIT["segment"], 0, 0) >= 0 else ""


@way
def inherit_descriptors():
    found = []
    for each in range(3, 256):
        with contextlib.suppress(OSError):
            os.fstat(each)
            found.append(each)
    return " ".join(map(str, found[1:]))  # one is the pipe through which it tells


# ------------------------------------------------------------------ writing


@way
def write_outside():
    with contextlib.suppress(OSError):
        Path(BAIT["outside"], "written").write_text("x")  # looked for outside
    return ""


@way
def write_programs():
    return opened("/usr/bin/env", os.O_WRONLY)


@way
def add_a_program():
    return opened("/usr/bin/perdure-escape", os.O_WRONLY | os.O_CREAT)


@way
def write_settings_of_the_system():
    return opened("/etc/passwd", os.O_WRONLY)


@way
def write_the_root():
    return opened("/perdure-escape", os.O_WRONLY | os.O_CREAT)


@way
def write_into_dev():
    return opened("/dev/perdure-escape", os.O_WRONLY | os.O_CREAT)


@way
def write_the_memory_of_version_control():
    return opened(".git/config", os.O_WRONLY)


@way
def add_a_hook():
    return opened(".git/hooks-pre-commit", os.O_WRONLY | os.O_CREAT)


@way
def remove_version_control():
    with contextlib.suppress(OSError):
        os.rename(".git", "gone")
        return "it was moved away"
    return ""


@way
def write_through_process_1():
    return opened("/proc/1/root" + BAIT["secret"], os.O_WRONLY)


@way
def change_what_handles_crashes():
    return opened("/proc/sys/kernel/core_pattern", os.O_WRONLY)


@way
def change_any_setting():
    return opened("/proc/sys/vm/drop_caches", os.O_WRONLY) or opened("/proc/sys/kernel/hostname", os.O_WRONLY)


@way
def restart_the_machine():
    return opened("/proc/sysrq-trigger", os.O_WRONLY)


@way
def raise_its_own_worth():
    return opened("/proc/1/oom_score_adj", os.O_WRONLY)


@way
def make_a_disk():
    with contextlib.suppress(OSError):
        os.mknod("disk", 0o600 | 0o060000, os.makedev(254, 0))
        os.close(os.open("disk", os.O_RDONLY))
        return "a disk was opened"
    return ""


@way
def make_a_whiteout():
    with contextlib.suppress(OSError):
        os.mknod("nothing", 0o600 | 0o020000, 0)
        return "a whiteout was made"
    return ""


@way
def mark_a_directory_as_opaque():
    with contextlib.suppress(OSError):
        os.setxattr("inner", "trusted.overlay.opaque", b"y")
        return "marked"
    return ""


# ------------------------------------------------------------------ sockets


@way
def make_a_unix_socket():
    return made(socket.AF_UNIX, socket.SOCK_STREAM)


@way
def reach_a_socket_in_the_workspace():
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as found:
        found.connect("engine.sock")
        return "connected"
    return ""


@way
def reach_a_socket_from_a_pair():
    with contextlib.suppress(OSError):
        one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        one.sendto(b"x", "engine.dgram")
        return "sent"
    return ""


@way
def reach_an_abstract_socket():
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as found:
        found.connect("\0" + BAIT["abstract"])
        return "connected"
    return ""


@way
def talk_to_the_kernel_by_netlink():
    return made(socket.AF_NETLINK, socket.SOCK_RAW, 0)


@way
def listen_to_packets():
    return made(socket.AF_PACKET, socket.SOCK_RAW, 0)


@way
def reach_the_host_of_the_machine():
    return made(40, socket.SOCK_STREAM)


@way
def use_ciphers_of_the_kernel():
    return made(38, socket.SOCK_SEQPACKET)


@way
def make_packets():
    return made(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@way
def reach_a_port_of_the_machine():
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", BAIT["port"]), 1):
        return "connected"
    return ""


@way
def reach_the_machine_by_its_address():
    with contextlib.suppress(OSError), socket.create_connection((BAIT["address"], BAIT["port"]), 1):
        return "connected"
    return ""


@way
def reach_the_world():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        found.connect(("192.0.2.1", 53))
        return "there is a route"
    return ""


# ------------------------------------------------------------------ processes and rights


@way
def signal_the_engine():
    with contextlib.suppress(OSError):
        os.kill(BAIT["engine"], 0)
        return "reached"
    return ""


@way
def stop_what_started_it():
    if BAIT["open"]:
        return ""  # in the open the first process is the machine's
    with contextlib.suppress(OSError):
        os.kill(1, signal.SIGSTOP)
    return "" if os.getppid() and Path("/proc/1/stat").read_text().rpartition(")")[2].split()[0] != "T" else "stopped"


@way
def gain_rights_by_running():
    line = next(each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("NoNewPrivs"))
    return "" if line.split()[1] == "1" else "setuid programs work"


@way
def have_capabilities():
    lines = [each.split() for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("Cap")]
    return " ".join(name for name, bits in lines if int(bits, 16))


@way
def run_without_a_filter():
    line = next(each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("Seccomp:"))
    return "" if line.split()[1] == "2" else line


@way
def be_the_user_who_started_it():
    return "" if os.getuid() == 1000 else f"user {os.getuid()}"


@way
def type_for_the_person():
    LIBC.ioctl(0, 0x5412, b"x")
    return "" if ctypes.get_errno() in REFUSED else errno.errorcode[ctypes.get_errno()]


@way
def have_a_terminal():
    return opened("/dev/tty", os.O_RDWR)


@way
def rename_the_machine():
    return "" if LIBC.sethostname(b"x", 1) != 0 else "renamed"


@way
def trace_itself():
    return call(101, 0, 0, 0, 0)


@way
def trace_another():
    return call(101, 16, 0x3FFFFFFF, 0, 0)


@way
def read_the_memory_of_another():
    return call(310, os.getppid(), 0, 1, 0, 1, 0)


@way
def take_a_descriptor_of_another():
    return call(438, -1, 0, 0)


@way
def make_a_user_namespace():
    return call(272, 0x10000000)


@way
def make_a_network():
    return call(272, 0x40000000)


@way
def make_a_namespace_by_clone():
    pid = LIBC.syscall(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return "" if pid < 0 else "made"


@way
def make_a_namespace_by_clone3():
    found = struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = LIBC.syscall(435, found, len(found))
    if pid == 0:
        os._exit(0)
    return "" if pid < 0 else "made"


@way
def enter_a_namespace():
    return call(308, -1, 0)


@way
def mount_something():
    return call(165, b"none", b"/tmp", b"tmpfs", 0, None)


@way
def unmount_something():
    return call(166, b"/nowhere", 0)


@way
def change_the_root():
    return call(155, b"/nowhere", b"/nowhere") or call(161, b"/nowhere")


@way
def mount_in_the_new_way():
    return (
        call(430, None, 0) or call(428, -1, None, 0) or call(429, -1, None, -1, None, 0) or call(442, -1, None, 0, 0, 0)
    )


@way
def open_by_handle():
    return call(304, -1, None, 0) or call(303, -1, None, None, None, 0)


@way
def load_programs_into_the_kernel():
    return call(321, -1, None, 0)


@way
def measure_the_kernel():
    return call(298, None, 0, -1, -1, 0)


@way
def handle_faults():
    return call(323, 0xFFFF)


@way
def use_rings():
    return call(425, 0, None) or call(426, -1, 0, 0, 0, None, 0) or call(427, -1, 0, None, 0)


@way
def use_keyrings():
    return call(250, 0, -3, 0) or call(248, None, None, None, 0, 0) or call(249, None, None, None, 0)


@way
def read_the_log_of_the_kernel():
    return call(103, 10, None, 0)


@way
def load_a_module():
    return call(175, None, 0, None) or call(313, -1, None, 0)


@way
def start_another_kernel():
    return call(246, 0, 0, None, 0) or call(320, -1, -1, 0, None, 0)


@way
def change_its_personality():
    return call(135, 0xFFFFFFFF)


@way
def change_segments():
    return call(154, 0, None, 0)


@way
def watch_all_files():
    return call(300, 0, 0)


@way
def use_numbers_of_x32():
    return call(0x40000000 | 39)


@way
def use_numbers_of_the_future():
    return call(700)


@way
def use_numbers_of_i386():
    """getpid as a 32-bit program calls it: not refused but fatal, so the child dies, which is what is wanted."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return f"answered {ctypes.CFUNCTYPE(ctypes.c_long)(address)()}"


# ------------------------------------------------------------------ trying


def tried(function):
    """In a process of its own, which may die of it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            signal.alarm(10)
            said = function()
        except Exception as error:  # noqa: BLE001  it did not come to anything
            said = "" if isinstance(error, OSError) else f"broken test: {error!r}"
        os.write(writing, said.encode()[:1000])
        os._exit(0)
    os.close(writing)
    found = b""
    while more := os.read(reading, 4096):
        found += more
    os.close(reading)
    os.waitpid(pid, 0)
    return found.decode()


def main():
    BAIT.update(json.loads(sys.argv[1]))
    sys.stdout.write(json.dumps({name: tried(function) for name, function in WAYS.items()}))


if __name__ == "__main__":
    main()
