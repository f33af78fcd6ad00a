"""Runs the shell commands of one workspace: the programme between the host and the commands.

Started by the host with JSON of `Options` on its standard input: a command sees the arguments of its first process, which
is forked from this one, and `Options` holds paths of the host. It builds a world of its own once (see `namespaces`), with
the workspace's tree in it as a tmpfs of limited size, and hands the host descriptors of that tree and of a socket that
listens on the world's own loopback, where only its commands can connect. Then the control socket
brings, per command, four descriptors: an `Order` as JSON to read, stdout, stderr, and a socket to report on. A process
forked for it becomes the first of a process namespace, says what protection is missing, runs the command, collects
orphans and says how it ended; when it ends or is killed, the kernel kills everything that is left. The end of the
control socket ends all. Without namespaces there are only limits and a search for orphans, and that is said.
"""

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from sandbox import beneath, namespaces, reaper, seccomp, syscalls
from sandbox.syscalls import MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY

FOLDER, HOME = "/workspace", "/home/guest"
_DEVICES = (*namespaces.DEVICES, "/dev/full")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives")
_NAMES = {
    "passwd": f"guest:x:1000:1000::{HOME}:/bin/sh\n",
    "group": "guest:x:1000:\n",
    "hosts": "127.0.0.1 localhost\n",
}
_SET_CHILD_SUBREAPER = 36
_SET_INTERFACE_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41


@dataclass(frozen=True)
class Options:
    """What the host asks of this programme."""

    control: int
    """Descriptor of the control socket."""
    user: int
    """Number of the user to become when started as root."""
    namespaces: bool
    programmes: list[str]
    """Further folders that are shown read-only at their own place: interpreters."""
    covered: list[str]
    """Folders that appear empty where they lie in any of those that are shown."""
    disk_bytes: int
    temporary_bytes: int


@dataclass(frozen=True)
class Order:
    """One command and its limits."""

    command: str
    folder: str
    """Where it starts."""
    environment: dict[str, str]
    cpu_s: int
    memory_bytes: int
    file_bytes: int
    processes: int


def main() -> NoReturn:
    options = Options(**json.load(sys.stdin))
    control = socket.socket(fileno=options.control)
    control.set_inheritable(False)
    user = namespaces.own_user(options.user)
    missing = ["own user (commands run as root of this container)"] if user == 0 else []
    tree: list[int] = []
    if options.namespaces:
        try:
            namespaces.enter(user, lambda owner: _furnish(options, owner))
        except OSError as error:
            control.send(b"N" + str(error).encode("utf-8", "replace")[:1000])
            os._exit(3)
        server = os.fork()
        if server:
            control.close()
            os.waitpid(server, 0)
            os._exit(0)
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        tree.append(os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        tree += _listen()
    else:
        namespaces.become(user)
        syscalls.prctl(_SET_CHILD_SUBREAPER, 1)
    socket.send_fds(control, [b"R" + json.dumps(missing).encode()], tree)
    for number in tree:
        os.close(number)
    _serve(control, options)


def _listen() -> list[int]:
    """Bring up this world's loopback and listen there; nothing where the system does not allow it."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    except OSError:
        return []
    return [listener.detach()]


def _furnish(options: Options, owner: str) -> None:
    for path in SYSTEM:
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
    for path in outermost(options.programmes):
        if not os.path.isdir("." + path):
            namespaces.bind(path, MS_NOSUID | MS_NODEV | MS_RDONLY)
    for path in _places(options):
        flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
        syscalls.mount("tmpfs", "." + path, "tmpfs", flags, "mode=555,size=4k,nr_inodes=2")
    for device in _DEVICES:
        namespaces.bind_file(device, MS_NOSUID | MS_NOEXEC)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"./dev/{name}")
    os.symlink("/proc/self/fd", "./dev/fd")
    for path in ("/tmp", HOME, "/dev/shm", FOLDER):
        os.makedirs("." + path, exist_ok=True)
    # The host's, until a command's first process mounts its own over it: the kernel allows that only where one is seen.
    namespaces.bind("/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    limits = _quota(options.disk_bytes)
    syscalls.mount("tmpfs", "." + FOLDER, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=755,{limits}{owner}")


def _places(options: Options) -> list[str]:
    """Where the folders to cover are seen: within what is shown, maybe by another name than their own, and nowhere else."""
    found = set()
    for shown in (*SYSTEM, *options.programmes):
        if os.path.islink("." + shown) or not os.path.isdir("." + shown):
            continue
        own = os.path.realpath(shown)
        for folder in options.covered:
            place = shown + folder.removeprefix(own)
            if within(folder, own) and os.path.isdir("." + place):
                found.add(place)
    return outermost(found)


def outermost(paths: Iterable[str]) -> list[str]:
    """Those that lie in no other one: a folder that is mounted brings along what is in it."""
    every = set(paths)
    return [path for path in every if not any(other != path and within(path, other) for other in every)]


def within(path: str, folder: str) -> bool:
    """Whether a path is that of a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _quota(size_bytes: int) -> str:
    # An empty file costs the kernel about a kilobyte.
    return f"size={size_bytes},nr_inodes={max(1024, min(size_bytes >> 10, beneath.MOST_ENTRIES))}"


def _serve(control: socket.socket, options: Options) -> NoReturn:
    """Fork for every order, collect the dead, end with the control socket."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    home = os.pidfd_open(os.getpid()) if options.namespaces else None
    poller = select.poll()
    poller.register(control, select.POLLIN)
    try:
        rules: list[syscalls.Prepared] = [syscalls.install_filter(seccomp.build_for_commands())]
    except OSError:
        rules = []
    running: dict[int, int] = {}
    while True:
        for number, _ in poller.poll():
            if number != control.fileno():
                poller.unregister(number)
                os.close(number)
                os.waitpid(running.pop(number), 0)
                if home is None:
                    _end_children(spare=set(running.values()))
                continue
            message, descriptors, _, _ = socket.recv_fds(control, 1, 4)
            if not message:
                if home is None:
                    _end_children(spare=set())
                os._exit(0)
            if home is not None:
                syscalls.unshare(syscalls.NEWPID)
            first = os.fork()
            if first == 0:
                _first_process(options, rules, *descriptors)
            if home is not None:
                # Back home, or the kernel refuses the next unshare.
                syscalls.setns(home, syscalls.NEWPID)
            for descriptor in descriptors:
                os.close(descriptor)
            handle = os.pidfd_open(first)
            running[handle] = first
            poller.register(handle, select.POLLIN)


def _first_process(
    options: Options, rules: list[syscalls.Prepared], order: int, stdout: int, stderr: int, channel: int
) -> NoReturn:
    """The first process of a command: give up all power, start it, outlive it, tell the host."""
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in range(3, max(order, stdout, stderr, channel)):
        if number not in (order, stdout, stderr, channel):
            with contextlib.suppress(OSError):
                os.close(number)
    report = socket.socket(fileno=channel)
    try:
        missing = _mount_own(options) if options.namespaces else []
        for number, at in ((stdout, 1), (stderr, 2)):
            os.dup2(number, at)
            os.close(number)
        with open(order, "rb") as text:
            wanted = Order(**json.loads(text.read()))
        missing += _give_up_power(rules)
        if not options.namespaces:
            syscalls.prctl(_SET_CHILD_SUBREAPER, 1)
        socket.send_fds(report, [json.dumps({"missing": missing}).encode()], [os.pidfd_open(os.getpid())])
        command = os.fork()
        if command == 0:
            _become_command(wanted, counted=options.namespaces)
        for number in (0, 1, 2):
            os.close(number)
        while True:
            found, status = os.wait()
            if found == command:
                break
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not options.namespaces:
            _end_children(spare=set())
        report.send(json.dumps({"status": status, "cpu_s": usage.ru_utime + usage.ru_stime}).encode())
    except (OSError, ValueError) as error:
        report.send(json.dumps({"fault": str(error)[:1000]}).encode())
    finally:
        os._exit(0)


def _mount_own(options: Options) -> list[str]:
    """An empty home, /tmp and /dev/shm, and a /proc that shows this command's processes only."""
    syscalls.unshare(syscalls.NEWNS)
    own = (("/tmp", options.temporary_bytes), (HOME, options.temporary_bytes), ("/dev/shm", 1 << 20))
    covered = [path for path in outermost(options.programmes) if any(path.startswith(f"{top}/") for top, _ in own)]
    handles = [os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) for path in covered]
    missing = []
    try:
        # Read-only: processes of one user could else write in each other's memory, a checked one in its checker's.
        syscalls.mount("proc", "/proc", "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except OSError as error:
        syscalls.mount("tmpfs", "/proc", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k")
        missing.append(f"/proc ({error.strerror})")
    for path, size in own:
        syscalls.mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=700,{_quota(size)}")
    for path, handle in zip(covered, handles, strict=True):
        os.makedirs(path)
        syscalls.mount(f"/proc/self/fd/{handle}", path, None, syscalls.MS_REC_BIND)
        syscalls.restrict_mount(path, MS_NOSUID | MS_NODEV | MS_RDONLY, recursive=True)
        os.close(handle)
    return missing


def _give_up_power(rules: list[syscalls.Prepared]) -> list[str]:
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    # The command has our user and sees us in /proc: without this it could write on our descriptors and in our memory.
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.drop_capabilities()()
    try:
        for put_on in rules:
            put_on()
    except OSError as error:
        return [f"seccomp ({error.strerror})"]
    return [] if rules else ["seccomp"]


def _become_command(order: Order, *, counted: bool) -> NoReturn:
    try:
        os.closerange(3, 256)
        os.setsid()
        os.chdir(order.folder)
        limits = [
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_AS, order.memory_bytes),
            (resource.RLIMIT_FSIZE, order.file_bytes),
        ]
        if counted:
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


def _end_children(spare: set[int]) -> None:
    """Kill all that a command has left, however it detached itself: orphans have become our children."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children") as names:
            children = {int(name) for name in names.read().split()} - spare
        if not children:
            return
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(child, 0)


if __name__ == "__main__":
    main()
