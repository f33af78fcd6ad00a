"""The hand-built filters, run by a small interpreter of their own instruction set: every call number, every condition."""

import errno
import struct
import sys

import pytest

from sandbox import seccomp, syscalls

pytestmark = pytest.mark.skipif(sys.platform != "linux" or not syscalls.NUMBERS, reason="no system call table here")
ALLOW, KILL, DENIED, UNKNOWN = 0x7FFF0000, 0x80000000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
OWN_PID = 7
CONDITIONAL = ("ioctl", "fcntl", "prctl", "socketpair", "kill", "tgkill", "tkill", "prlimit64", "clone")


def verdict(programme, number, *arguments, architecture=None):
    """What the kernel would do with this call."""
    architecture = architecture or ARCHITECTURE[syscalls.MACHINE]
    data = struct.pack("<iIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("HBBI", programme))
    accumulator = position = 0
    while True:
        code, when_true, when_false, value = steps[position]
        position += 1
        if code == 0x20:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif code == 0x06:
            return value
        elif code == 0x05:
            position += value
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            position += when_true if holds else when_false


@pytest.fixture(scope="module")
def guests():
    return seccomp.build(OWN_PID)


@pytest.fixture(scope="module")
def commands():
    return seccomp.build_for_commands()


def test_guests_may_call_exactly_the_table(guests):
    allowed = {number for name, number in syscalls.NUMBERS.items() if name not in CONDITIONAL}
    conditional = {syscalls.NUMBERS[name] for name in CONDITIONAL}
    for number in range(1000):
        if number not in conditional:
            assert (verdict(guests, number) == ALLOW) == (number in allowed), number


def test_calls_newer_than_the_table_do_not_exist(guests):
    for number in (syscalls.CLONE3, 437, 460, 5000):
        assert verdict(guests, number) == UNKNOWN


@pytest.mark.parametrize(
    ("name", "arguments", "allowed"),
    [
        ("kill", (OWN_PID, 9), True),
        ("kill", (OWN_PID + 1, 9), False),
        ("kill", (0xFFFFFFFFFFFFFFFF, 9), False),
        ("kill", (0, 9), False),
        ("tgkill", (OWN_PID, 1, 6), True),
        ("tgkill", (1, 1, 6), False),
        ("tkill", (OWN_PID, 6), False),
        ("clone", (0x3D0F00,), True),
        ("clone", (17,), False),
        ("clone", (0x4111,), False),
        ("fcntl", (0, 3), True),
        ("fcntl", (0, 6), False),
        ("fcntl", (0, 1025), False),
        ("prctl", (15,), True),
        ("prctl", (4,), False),
        ("socketpair", (1,), True),
        ("socketpair", (2,), False),
        ("prlimit64", (0, 1), True),
        ("prlimit64", (1, 1), False),
        ("ioctl", (0, 0x5412), False),
    ],
)
def test_conditions_on_arguments(guests, name, arguments, allowed):
    assert (verdict(guests, syscalls.NUMBERS[name], *arguments) == ALLOW) == allowed


def test_a_server_and_its_guests_may_do_only_little_more(guests):
    """What the fork-server needs is of no use to a guest: it has neither the capability nor that descriptor."""
    shared = seccomp.build(OWN_PID, 64)
    more = {number for number in range(1000) if verdict(shared, number, 64) != verdict(guests, number, 64)}
    assert more == set(syscalls.SERVER_NUMBERS.values())
    for name in ("sendmsg", "recvmsg"):
        number = syscalls.SERVER_NUMBERS[name]
        assert verdict(shared, number, 64) == ALLOW
        assert {verdict(shared, number, other) for other in (*range(64), 65, 0xFFFFFFFF)} == {DENIED}
    fork = syscalls.FORK_FLAGS
    assert fork & syscalls.NEWPID
    assert verdict(shared, syscalls.CLONE, fork) == ALLOW
    assert verdict(guests, syscalls.CLONE, fork) == DENIED
    for flags in (17, fork | syscalls.NEWUSER, fork | syscalls.NEWNS, fork & ~syscalls.NEWPID, syscalls.NEWUSER | 17):
        assert verdict(shared, syscalls.CLONE, flags) == DENIED
    assert verdict(shared, syscalls.CLONE, 0x3D0F00) == ALLOW, "threads"


def test_other_call_tables_kill(guests, commands):
    for programme in (guests, commands, seccomp.build(OWN_PID, 64)):
        assert verdict(programme, 1, architecture=0x40000003) == KILL
        if syscalls.MACHINE == "x86_64":
            assert verdict(programme, 0x40000000 | 1) == KILL


def test_commands_may_call_all_but_a_list(commands):
    conditional = {syscalls.CLONE, syscalls.SOCKET}
    for number in range(1000):
        if number not in conditional | {syscalls.CLONE3}:
            expected = DENIED if number in syscalls.FORBIDDEN.values() else ALLOW
            assert verdict(commands, number) == expected, number
    assert verdict(commands, syscalls.CLONE3) == UNKNOWN
    assert verdict(commands, syscalls.CLONE, 17) == ALLOW
    for namespace in (syscalls.NEWUSER, syscalls.NEWNS, syscalls.NEWPID, syscalls.NEWNET):
        assert verdict(commands, syscalls.CLONE, namespace | 17) == DENIED
    assert [verdict(commands, syscalls.SOCKET, family) == ALLOW for family in (1, 2, 10, 38, 40)] == [True] * 3 + [
        False
    ] * 2
