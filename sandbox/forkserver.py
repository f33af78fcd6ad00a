"""The fork-server of `Isolated`: a small clean interpreter in a world of its own that forks one guest per job.

Run as a programme by the host with one argument, JSON of `Options`. It never sees code, inputs or answers: these travel
over pipes that it only passes on, so there is nothing in it for a guest to find. The control socket carries, from the
host, `JOB` with three descriptors (requests, replies, output); to the host, "R" and the missing layers once, then per
job "P" with a pidfd of the guest, and `END` when it is dead and its files are gone. The host kills; the end of the
control socket ends everything.
"""

import errno
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from typing import NoReturn

_register_at_fork = os.register_at_fork
if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # What modules ask to be done after every fork (locks made anew, `random` re-seeded) touches two hundred pages and
    # takes half of a guest's start. This process has no second thread and seeds by itself, so nothing of it is needed.
    os.register_at_fork = lambda **_: None
from sandbox import guest, landlock, namespaces, reaper, scratch, seccomp, syscalls  # noqa: E402

JOB = struct.Struct("<QQQ")
"""Hard CPU limit in seconds, address space and largest file in bytes."""
END = struct.Struct("<id")
"""Wait status, CPU seconds."""
OPEN_FILES, THREADS, STACK_BYTES = 64, 64, 64 << 20
_PRELOADED = (
    "abc,array,bisect,cmath,collections,contextlib,copy,dataclasses,datetime,decimal,enum,fractions,functools,heapq,io,"
    "itertools,json,math,numbers,operator,random,re,statistics,string,textwrap,time,types,typing"
)
_REQUESTS, _REPLIES = 3, 4


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
    own_pid_namespace: int | None
    work: int
    null: int
    drop_capabilities: syscalls.Prepared
    close_rest: syscalls.Prepared
    install_filter: syscalls.Prepared | None
    filtered: bool


def main() -> NoReturn:
    options = Options(**json.loads(sys.argv[1]))
    control = socket.socket(fileno=options.control)
    _preload()
    os.setsid()
    try:
        world, missing = _set_up(options, control)
    except OSError as error:
        control.send(b"N" + str(error).encode("utf-8", "replace")[:1000])
        os._exit(3)
    guest.warm_up()
    guest.forget()
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(b"R" + json.dumps(missing).encode())
    while _supervise(world):
        pass
    # Only a guest comes here. Its world was set up in `_become_guest`; nothing of the server is left on the stack.
    guest.serve(_REQUESTS, _REPLIES)


def _preload() -> None:
    for name in _PRELOADED.split(","):
        __import__(name)
    os.register_at_fork = _register_at_fork


def _set_up(options: Options, control: socket.socket) -> tuple[_World, list[str]]:
    missing: list[str] = []
    user = namespaces.own_user(options.user)
    if user == 0:
        missing.append("own user (guests run as root of this container)")
    null = os.open(os.devnull, os.O_RDWR)
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
    world = _World(
        control=control,
        own_pid_namespace=os.pidfd_open(os.getpid()) if options.namespaces else None,
        work=os.open(work, os.O_RDONLY | os.O_DIRECTORY),
        null=null,
        drop_capabilities=syscalls.drop_capabilities(),
        close_rest=syscalls.close_from(5),
        # Inside its namespace every guest is process 1, so one filter serves all.
        install_filter=syscalls.install_filter(seccomp.build(1)) if filtered and options.namespaces else None,
        filtered=filtered,
    )
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


def _supervise(world: _World) -> bool:
    """Take one job, fork, wait, wipe, report: True in the server, False in the guest."""
    control = world.control
    message, descriptors, _, _ = socket.recv_fds(control, JOB.size, 3)
    if not message:
        os._exit(0)
    if world.own_pid_namespace is not None:
        syscalls.unshare(syscalls.NEWPID)
    child = os.fork()
    if child == 0:
        _become_guest(world, descriptors, *JOB.unpack(message))
        return False
    if world.own_pid_namespace is not None:
        # Back home, or the kernel refuses the next unshare.
        syscalls.setns(world.own_pid_namespace, syscalls.NEWPID)
    for descriptor in descriptors:
        os.close(descriptor)
    handle = os.pidfd_open(child)
    socket.send_fds(control, [b"P"], [handle])
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    poller.register(control, select.POLLIN)
    if handle not in [number for number, _ in poller.poll()]:
        os._exit(0)  # the host is gone, and with this process goes the guest
    _, status, usage = os.wait4(child, 0)
    os.close(handle)
    scratch.empty(world.work)  # an error ends the server: rather none than one with somebody's leftovers
    control.send(END.pack(status, usage.ru_utime + usage.ru_stime))
    return True


def _become_guest(world: _World, descriptors: list[int], cpu_s: int, memory_bytes: int, file_bytes: int) -> None:
    requests, replies, output = descriptors
    try:
        for source, target in ((world.null, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        # In two steps, because a source may have the number of a target.
        requests, replies = os.dup(requests), os.dup(replies)
        while requests in (_REQUESTS, _REPLIES) or replies in (_REQUESTS, _REPLIES):
            requests, replies = os.dup(requests), os.dup(replies)
        os.dup2(requests, _REQUESTS)
        os.dup2(replies, _REPLIES)
        if world.own_pid_namespace is None:
            syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        else:
            reaper.cap(resource.RLIMIT_NPROC, THREADS)
        reaper.cap(resource.RLIMIT_CPU, cpu_s)
        reaper.cap(resource.RLIMIT_FSIZE, file_bytes)
        reaper.cap(resource.RLIMIT_AS, memory_bytes)
        world.drop_capabilities()
        world.close_rest()
        if world.install_filter:
            world.install_filter()
        elif world.filtered:
            syscalls.install_filter(seccomp.build(os.getpid()))()
    except (OSError, ValueError) as error:
        guest.refuse(replies, repr(error))


if __name__ == "__main__":
    main()
