"""The guest's seccomp filter: an allow-list of system calls, assembled by hand into classic BPF.

It is a binary decision tree and not a chain: while loading, the kernel runs the filter once for every call number, and
a chain of three hundred comparisons makes that the most expensive part of starting a guest.
"""

import errno
import struct

from sandbox.syscalls import (
    CLONE,
    CLONE3,
    CLONE_THREAD,
    FORBIDDEN,
    FORK_FLAGS,
    MACHINE,
    NUMBERS,
    SERVER_NUMBERS,
    SOCKET,
)

_LOAD, _JUMP, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_END_OF_NUMBERS = 0x3FFFFFFF
_NEWEST = {"x86_64": 335, "aarch64": 294}
"""From here on ENOSYS, so that the C library falls back to a call it knows (clone3 to clone)."""
_ARGUMENT_OFFSET = 16
_NEW_NAMESPACES = 0x7E020000
_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: in an empty network namespace they reach nothing."""

Code = list[bytes]


def _instruction(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, when_true, when_false, value)


def _give(action: int) -> Code:
    return [_instruction(_RETURN, action)]


def _refuse(number: int) -> Code:
    return _give(_ERRNO | number)


def _if_argument_in(position: int, values: tuple[int, ...], otherwise: Code) -> Code:
    """Allow when the lower half of an argument is one of `values`."""
    code = [_instruction(_LOAD, _ARGUMENT_OFFSET + 8 * position)]
    for value in values:
        code += [_instruction(_EQUAL, value, 0, 1), *_give(_ALLOW)]
    return code + otherwise


def _with_conditions(own_pid: int) -> dict[str, Code]:
    denied = _refuse(errno.EPERM)
    terminal_size_and_flags = (0x5401, 0x5413, 0x5450, 0x5451, 0x541B, 0x5421)
    duplicate_and_flags = (0, 1, 2, 3, 4, 1030)  # no locks: the library files are the host's own
    thread_names = (15, 16, 0x53564D41)
    return {
        "ioctl": _if_argument_in(1, terminal_size_and_flags, _refuse(errno.ENOTTY)),
        "fcntl": _if_argument_in(1, duplicate_and_flags, denied),
        "prctl": _if_argument_in(0, thread_names, denied),
        "socketpair": _if_argument_in(0, (1,), _refuse(errno.EAFNOSUPPORT)),  # AF_UNIX: an event loop wakes itself
        "kill": _if_argument_in(0, (own_pid,), denied),
        "tgkill": _if_argument_in(0, (own_pid,), denied),
        "tkill": denied,
        "prlimit64": _if_argument_in(0, (0, own_pid), denied),
        "clone": [  # threads yes, processes no
            _instruction(_LOAD, _ARGUMENT_OFFSET),
            _instruction(_ANY_BIT, CLONE_THREAD, 0, 1),
            *_give(_ALLOW),
            *denied,
        ],
    }


def build(own_pid: int, control: int | None = None) -> bytes:
    """The filter for a guest whose process number (as it sees it) is `own_pid`; raises OSError without a call table.

    With `control` it is one for a fork-server and all its guests: these also may do what `syscalls.Fork` does, which the
    kernel lets nobody without capabilities do, send and receive messages on that one descriptor, whose number a guest can
    never have, wait for children, and give up capabilities.
    """
    bodies = {name: _give(_ALLOW) for name in NUMBERS} | _with_conditions(own_pid)
    by_number = {NUMBERS[name]: body for name, body in bodies.items() if name in NUMBERS}
    if control is not None:
        by_number |= {number: _give(_ALLOW) for number in SERVER_NUMBERS.values()}
        for name in ("sendmsg", "recvmsg"):
            by_number[SERVER_NUMBERS[name]] = _if_argument_in(0, (control,), _refuse(errno.EPERM))
        fork = [_instruction(_LOAD, _ARGUMENT_OFFSET), _instruction(_EQUAL, FORK_FLAGS, 0, 1), *_give(_ALLOW)]
        by_number[CLONE] = fork + bodies["clone"][1:]
    return _assemble(by_number, _refuse(errno.EPERM), newest=_NEWEST.get(MACHINE))


def build_for_commands() -> bytes:
    """The filter for a shell command: all but a list of calls, no new namespaces, no exotic sockets; OSError as above."""
    bodies = {number: _refuse(errno.EPERM) for number in FORBIDDEN.values()}
    bodies[CLONE3] = _refuse(errno.ENOSYS)  # its flags lie in memory, where no filter sees them
    bodies[CLONE] = [
        _instruction(_LOAD, _ARGUMENT_OFFSET),
        _instruction(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        *_refuse(errno.EPERM),
        *_give(_ALLOW),
    ]
    bodies[SOCKET] = _if_argument_in(0, _FAMILIES, _refuse(errno.EAFNOSUPPORT))
    return _assemble(bodies, _give(_ALLOW), newest=None)


def _assemble(bodies: dict[int, Code], otherwise: Code, newest: int | None) -> bytes:
    if not NUMBERS:
        raise OSError(errno.ENOSYS, f"no system call table for {MACHINE}")
    spans: list[tuple[int, Code]] = []
    following = 0
    for number, body in [*sorted(bodies.items()), (_END_OF_NUMBERS, otherwise)]:
        if number > following:
            _append(spans, following, otherwise)
            if newest is not None and number > newest:
                _append(spans, max(following, newest), _refuse(errno.ENOSYS))
        if number < _END_OF_NUMBERS:
            _append(spans, number, body)
        following = number + 1
    code = [
        _instruction(_LOAD, 4),
        _instruction(_EQUAL, _ARCHITECTURE[MACHINE], 1, 0),
        *_give(_KILL),
        _instruction(_LOAD, 0),
    ]
    if MACHINE == "x86_64":
        code += [_instruction(_AT_LEAST, _X32_BIT, 0, 1), *_give(_KILL)]
    return b"".join(code + _tree(spans))


def _append(spans: list[tuple[int, Code]], start: int, body: Code) -> None:
    if spans and spans[-1][0] == start:
        spans[-1] = (start, body)
    elif not spans or spans[-1][1] != body:
        spans.append((start, body))


def _tree(spans: list[tuple[int, Code]]) -> Code:
    """Find the span that holds the call number, which is in the accumulator; each span begins at its number."""
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    low, high = _tree(spans[:middle]), _tree(spans[middle:])
    if len(low) <= 255:
        return [_instruction(_AT_LEAST, spans[middle][0], len(low), 0), *low, *high]
    return [_instruction(_AT_LEAST, spans[middle][0], 0, 1), _instruction(_JUMP, len(low)), *low, *high]
