"""Landlock (Linux 5.13): a second, independent wall around the file system; the first one without namespaces."""

import ctypes
import errno
import os
import struct

from sandbox import syscalls

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_SOCKET, _MAKE_FIFO, _MAKE_BLOCK, _DEVICE_IOCTL = 1 << 6, 1 << 9, 1 << 10, 1 << 11, 1 << 15
_PATH_BENEATH = 1


def version() -> int:
    """The kernel's Landlock version, 0 without."""
    try:
        return syscalls.call("landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint(1))
    except OSError:
        return 0


def enforce(readable: list[str], devices: list[str], writable: str) -> None:
    """Restrict this thread and all it forks for good: no path but these, no TCP, no signal or abstract socket outwards.

    Needs no_new_privs. What the kernel's version does not know yet is left out. Raises OSError without Landlock.
    """
    abi = version()
    if abi < 1:
        raise OSError(errno.EOPNOTSUPP, "landlock: not offered by this kernel")
    handled = (1 << 13) - 1
    for since, right in ((2, 1 << 13), (3, 1 << 14), (5, _DEVICE_IOCTL)):
        if abi >= since:
            handled |= right
    sizes = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}
    attributes = struct.pack("QQQ", handled, 0b11, 0b11)[: sizes.get(abi, 24)]
    size = ctypes.c_size_t(len(attributes))
    rules = syscalls.call("landlock_create_ruleset", attributes, size, ctypes.c_uint(0))
    unwritable = _EXECUTE | _MAKE_CHAR | _MAKE_BLOCK | _MAKE_SOCKET | _MAKE_FIFO | _DEVICE_IOCTL
    for path in readable:
        _allow(rules, path, handled & (_READ_FILE | _READ_FOLDER))
    for path in devices:
        _allow(rules, path, handled & (_READ_FILE | _WRITE_FILE))
    _allow(rules, writable, handled & ~unwritable)
    syscalls.call("landlock_restrict_self", ctypes.c_int(rules), ctypes.c_uint(0))
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= _READ_FILE | _WRITE_FILE
        rule = struct.pack("=Qi", rights, beneath)
        syscalls.call("landlock_add_rule", ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint(0))
    finally:
        os.close(beneath)
