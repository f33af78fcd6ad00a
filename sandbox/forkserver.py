"""The fork-server of `Isolated`: a small clean interpreter in a world of its own that forks one guest per job.

Run as a programme by the host with one argument, JSON of `Options`. It never sees code, inputs or answers: these travel
over pipes that it only passes on, so there is nothing in it for a guest to find. The control socket carries, from the
host, `JOB` with three descriptors (requests, replies, output); to the host, "R" and the missing layers once, then per
job "P" with a pidfd of the guest, and `END` when it is dead and its files are gone. The host kills; the end of the
control socket ends everything.
"""

import errno
import fcntl
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

_register_at_fork = os.register_at_fork
if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # What modules ask to be done after every fork (locks made anew, `random` re-seeded) touches two hundred pages and
    # takes half of a guest's start. This process has no second thread and seeds by itself, so nothing of it is needed.
    os.register_at_fork = lambda **_: None
from sandbox import guest, heap, landlock, namespaces, reaper, scratch, seccomp, syscalls  # noqa: E402

JOB = struct.Struct("<QQQ")
"""Hard CPU limit in seconds, address space and largest file in bytes."""
END = struct.Struct("<id")
"""Wait status, CPU seconds."""
_THREE, _ONE = struct.Struct("3i"), struct.Struct("i")
OPEN_FILES, THREADS, STACK_BYTES = 64, 64, 64 << 20
_PRELOADED = (
    "abc,array,bisect,cmath,collections,contextlib,copy,dataclasses,datetime,decimal,enum,fractions,functools,heapq,io,"
    "itertools,json,math,numbers,operator,random,re,statistics,string,textwrap,time,types,typing"
)
_REQUESTS, _REPLIES, _FIRST_OWN = 3, 4, 5
CONTROL = OPEN_FILES
"""Number of the control socket: one that no guest can have, because it may not open so many files."""
# A forked child looks nothing up in modules: the first to ask for an attribute pays for pages of the type cache.
_dup2, _close, _fork, _setrlimit, _leave = os.dup2, os.close, os.fork, resource.setrlimit, os._exit
_wait4, _pidfd_open, _poll_in = os.wait4, os.pidfd_open, select.POLLIN
_rights, _rights_bytes = (socket.SOL_SOCKET, socket.SCM_RIGHTS), socket.CMSG_SPACE(12)
_CPU, _FILE, _ADDRESS_SPACE = resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_AS
_UNLIMITED = (1 << 63) - 1


@dataclass(frozen=True)
class Options:
    """What the host asks of a fork-server."""

    control: int
    """Descriptor of the control socket."""
    user: int
    """Number of the user to become when started as root."""
    namespaces: bool
    work: str
    """Writable folder when there are no namespaces."""


@dataclass
class _World:
    """What a fork needs, prepared once."""

    control: socket.socket
    fork: syscalls.Fork | None
    """None without namespaces."""
    handle: int
    """Of this process, for the host."""
    work: int
    null: int
    poller: "select.poll"
    hard_limits: list[int]
    """Of CPU, file size and address space: no guest gets more than this process has."""
    confinement: tuple[Callable[[], None], ...]
    """What a guest does last before it reads code."""


def main() -> NoReturn:
    options = Options(**json.loads(sys.argv[1]))
    # The numbers below `_FIRST_OWN` are a guest's; taken now, none of ours will ever be in the way.
    control = socket.socket(fileno=fcntl.fcntl(options.control, fcntl.F_DUPFD_CLOEXEC, CONTROL))
    null = fcntl.fcntl(os.open(os.devnull, os.O_RDWR), fcntl.F_DUPFD_CLOEXEC, _FIRST_OWN)
    for number in (_REQUESTS, _REPLIES):
        os.dup2(null, number)
    if options.control >= _FIRST_OWN:
        os.close(options.control)
    _preload()
    if os.getsid(0) != os.getpid():
        os.setsid()
    try:
        world, missing = _set_up(options, control, null)
    except OSError as error:
        control.send(b"N" + str(error).encode("utf-8", "replace")[:1000])
        os._exit(3)
    guest.warm_up()
    _rehearse(world)
    guest.forget()
    gc.collect()
    _kept = heap.fill()
    gc.freeze()
    gc.disable()
    handle = world.handle
    socket.send_fds(control, [b"R" + json.dumps(missing).encode()], [handle])
    os.close(handle)
    while _supervise(world):
        pass
    # Only a guest comes here. Its world was set up in `_become_guest`; nothing of the server is left on the stack.
    guest.serve(_REQUESTS, _REPLIES, greet=False)


def _preload() -> None:
    for name in _PRELOADED.split(","):
        __import__(name)
    os.register_at_fork = _register_at_fork


def _set_up(options: Options, control: socket.socket, null: int) -> tuple[_World, list[str]]:
    missing: list[str] = []
    user = namespaces.own_user(options.user)
    if user == 0:
        missing.append("own user (guests run as root of this container)")
    work = options.work
    seen = namespaces.visible()
    if options.namespaces:
        namespaces.enter(user, namespaces.furnish_for_guests)
        work = namespaces.WORK
        server = os.fork()
        if server:
            control.close()
            _, status = os.waitpid(server, 0)
            os._exit(0 if status == 0 else 1)
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        namespaces.become(user)
        if not os.access(seen.folders[0], os.R_OK | os.X_OK):
            raise OSError(errno.EACCES, f"user {user} cannot read the interpreter's library {seen.folders[0]}")
    os.chdir(work)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    try:
        readable = [path for path in seen.folders + seen.files if os.path.exists(path)]
        landlock.enforce(readable, list(namespaces.DEVICES), work)
    except OSError as error:
        missing.append(f"landlock ({error.strerror})")
    handle = os.pidfd_open(os.getpid())
    filtered = _can_filter()
    if not filtered:
        missing.append("seccomp")
    for which, amount in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 64),
        (resource.RLIMIT_STACK, STACK_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
    ):
        reaper.cap(which, amount)
    confinement: list[Callable[[], None]] = [syscalls.drop_capabilities(), syscalls.close_from(_FIRST_OWN)]
    if options.namespaces:
        reaper.cap(resource.RLIMIT_NPROC, THREADS)
        if filtered:
            # Inside its namespace every guest is process 1, so one filter serves all, and they inherit it from here:
            # to have each guest install its own would cost a tenth of its start.
            syscalls.install_filter(seccomp.build(1, CONTROL))()
    else:
        confinement.insert(0, lambda: syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL))
        if filtered:
            confinement.append(lambda: syscalls.install_filter(seccomp.build(os.getpid()))())
    hard = [resource.getrlimit(which)[1] for which in (_CPU, _FILE, _ADDRESS_SPACE)]
    world = _World(
        control=control,
        fork=syscalls.Fork() if options.namespaces else None,
        handle=handle,
        work=os.open(work, os.O_RDONLY | os.O_DIRECTORY),
        null=null,
        poller=select.poll(),
        hard_limits=[_UNLIMITED if amount == resource.RLIM_INFINITY else amount for amount in hard],
        confinement=tuple(confinement),
    )
    world.poller.register(control, select.POLLIN)
    return world, missing


def _can_filter() -> bool:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            syscalls.install_filter(seccomp.build(os.getpid()))()
            code = 0
        except OSError:
            code = 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _rehearse(world: _World) -> None:
    """Run the code of `_become_guest` to no effect: its children find it specialised, and its look-ups cached."""
    nothing = (syscalls.close_from(1 << 30),) * 3
    for _ in range(20):
        _become_guest(replace(world, confinement=nothing), (world.null, world.null, 2), *world.hard_limits)
    os.dup2(world.null, 1)  # it became stderr, which alone stays what it was


def _supervise(world: _World) -> bool:
    """Take one job, fork, wait, wipe, report: True in the server, False in the guest."""
    control, fork = world.control, world.fork
    message, rights, _, _ = control.recvmsg(JOB.size, _rights_bytes)
    if not message:
        _leave(0)
    descriptors = _THREE.unpack(rights[0][2])
    cpu_s, memory_bytes, file_bytes = JOB.unpack(message)
    child = _fork() if fork is None else fork()
    if child == 0:
        _become_guest(world, descriptors, cpu_s, file_bytes, memory_bytes)
        return False
    for descriptor in descriptors:
        _close(descriptor)
    handle = _pidfd_open(child) if fork is None else fork.pidfd()
    control.sendmsg([b"P"], [(*_rights, _ONE.pack(handle))])
    world.poller.register(handle, _poll_in)
    if handle not in [number for number, _ in world.poller.poll()]:
        _leave(0)  # the host is gone, and with this process goes the guest
    world.poller.unregister(handle)
    _, status, usage = _wait4(child, 0)
    _close(handle)
    scratch.empty(world.work)  # an error ends the server: rather none than one with somebody's leftovers
    control.send(END.pack(status, usage.ru_utime + usage.ru_stime))
    return True


def _become_guest(
    world: _World, descriptors: tuple[int, int, int], cpu_s: int, file_bytes: int, memory_bytes: int
) -> None:
    requests, replies, output = descriptors
    try:
        _dup2(world.null, 0)
        _dup2(output, 1)
        _dup2(output, 2)
        _dup2(requests, _REQUESTS)
        _dup2(replies, _REPLIES)
        most_cpu, most_file, most_memory = world.hard_limits
        for which, amount, most in (
            (_CPU, cpu_s, most_cpu),
            (_FILE, file_bytes, most_file),
            (_ADDRESS_SPACE, memory_bytes, most_memory),
        ):
            amount = amount if amount < most else most
            _setrlimit(which, (amount, amount))
        for confine in world.confinement:
            confine()
    except (OSError, ValueError) as error:
        guest.refuse(_REPLIES, repr(error))


if __name__ == "__main__":
    main()
