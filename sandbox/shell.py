"""Runs one shell command for a workspace: the programme between the host and the command.

Started by the host with JSON of `Order` on stdin. It builds a world of its own (see `namespaces`), forks the first
process of that world, which runs the command, collects orphans and tells the host over the `report` descriptor how it
ended. When that process ends, the kernel kills everything that is left; SIGTERM to this programme, or its death, has the same
effect. Without namespaces it is only limits and a search for orphans, and says so.
"""

import contextlib
import json
import os
import resource
import signal
import sys
from dataclasses import dataclass
from typing import NoReturn

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from sandbox import namespaces, reaper, seccomp, syscalls
from sandbox.syscalls import MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY

FOLDER, HOME = "/workspace", "/home/guest"
_DEVICES = (*namespaces.DEVICES, "/dev/full")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives")
_NAMES = {"passwd": f"guest:x:1000:1000::{HOME}:/bin/sh\n", "group": "guest:x:1000:\n", "hosts": "127.0.0.1 localhost\n"}
_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Order:
    """What the host asks for."""

    command: str
    folder: str
    """The workspace on the host."""
    programmes: list[str]
    """Further folders that are shown read-only at their own place: interpreters."""
    environment: dict[str, str]
    report: int
    """Descriptor to report on."""
    user: int
    namespaces: bool
    cpu_s: int
    memory_bytes: int
    file_bytes: int
    processes: int
    temporary_bytes: int


def main() -> NoReturn:
    order = Order(**json.loads(sys.stdin.buffer.read()))
    reaper.die_with_parent()
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    missing: list[str] = []
    user = namespaces.own_user(order.user)
    if user == 0:
        missing.append("own user (commands run as root of this container)")
    folder = FOLDER
    if order.namespaces:
        try:
            namespaces.enter(user, lambda owner: _furnish(order, owner))
        except OSError as error:
            _report(order, {"refused": str(error)})
            os._exit(3)
    else:
        namespaces.become(user)
        folder = order.folder
        syscalls.prctl(_SET_CHILD_SUBREAPER, 1)
    first = os.fork()
    if first:
        os.close(order.report)
        signal.signal(signal.SIGTERM, lambda *_: _kill(first))
        os.waitpid(first, 0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if not order.namespaces:
            _end_orphans()
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if order.namespaces:
        try:
            syscalls.mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        except OSError as error:
            syscalls.mount("tmpfs", "/proc", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k")
            missing.append(f"/proc ({error.strerror})")
    _first_process(order, folder, missing)


def _furnish(order: Order, owner: str) -> None:
    for path in _SYSTEM:
        if os.path.islink(path):
            os.symlink(os.readlink(path), "." + path)
        elif os.path.isdir(path):
            namespaces.bind(path, MS_NOSUID | MS_NODEV | MS_RDONLY)
    os.makedirs("./etc", exist_ok=True)
    if os.path.exists("/etc/ld.so.cache"):
        namespaces.bind_file("/etc/ld.so.cache", MS_NOSUID | MS_NODEV | MS_RDONLY)
    for name, text in _NAMES.items():
        with open(f"./etc/{name}", "w") as file:
            file.write(text)
    for path in order.programmes:
        if not os.path.isdir("." + path):
            namespaces.bind(path, MS_NOSUID | MS_NODEV | MS_RDONLY)
    for device in _DEVICES:
        namespaces.bind_file(device, MS_NOSUID | MS_NOEXEC)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"./dev/{name}")
    os.symlink("/proc/self/fd", "./dev/fd")
    for path in ("/tmp", HOME, "/dev/shm"):
        os.makedirs("." + path, exist_ok=True)
    # The host's, until the first process mounts its own over it: the kernel allows that only where one is to be seen.
    namespaces.bind("/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for path, size in (("/tmp", order.temporary_bytes), (HOME, order.temporary_bytes), ("/dev/shm", 1 << 20)):
        syscalls.mount("tmpfs", "." + path, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=700,size={size}{owner}")
    namespaces.bind(order.folder, MS_NOSUID | MS_NODEV, at=FOLDER)


def _first_process(order: Order, folder: str, missing: list[str]) -> NoReturn:
    drop, rules = syscalls.drop_capabilities(), None
    try:
        rules = syscalls.install_filter(seccomp.build_for_commands())
    except OSError as error:
        missing.append(f"seccomp ({error.strerror})")
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    # The command has our user and sees us in /proc: without this it could write on our descriptors and in our memory.
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    drop()
    if rules:
        try:
            rules()
        except OSError as error:
            missing.append(f"seccomp ({error.strerror})")
    _report(order, {"missing": missing})
    command = os.fork()
    if command == 0:
        _become_command(order, folder)
    for number in (0, 1, 2):
        with contextlib.suppress(OSError):
            os.close(number)
    while True:
        found, status = os.wait()
        if found == command:
            break
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    _report(order, {"status": status, "cpu_s": usage.ru_utime + usage.ru_stime})
    os._exit(0)


def _become_command(order: Order, folder: str) -> NoReturn:
    try:
        os.close(order.report)
        os.setsid()
        os.chdir(folder)
        limits = [
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, order.memory_bytes),
            (resource.RLIMIT_FSIZE, order.file_bytes),
        ]
        if order.namespaces:
            limits.append((resource.RLIMIT_NPROC, order.processes))
        for which, amount in limits:
            reaper.cap(which, amount)
        # A second between the limits: SIGXCPU tells the reason, SIGKILL comes if it is ignored.
        reaper.cap(resource.RLIMIT_CPU, order.cpu_s + 1)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (min(order.cpu_s, hard), hard))
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        shell = next((path for path in ("/bin/bash", "/usr/bin/bash") if os.path.exists(path)), "/bin/sh")
        os.execve(shell, [shell, "-c", order.command], order.environment)
    except (OSError, ValueError) as error:
        os.write(2, f"sandbox: {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(126)


def _end_orphans() -> None:
    """Kill all that the command has left, however it detached itself: orphans have become our children."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children") as names:
            children = [int(name) for name in names.read().split()]
        if not children:
            return
        for child in children:
            _kill(child)
            with contextlib.suppress(OSError):
                os.waitpid(child, 0)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _report(order: Order, what: dict[str, object]) -> None:
    os.write(order.report, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    main()
