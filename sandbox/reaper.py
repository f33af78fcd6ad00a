"""Limits and death of child processes: what the trusted worker and both sandboxes share."""

import contextlib
import ctypes
import math
import os
import resource
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38


def cap(which: int, amount: int) -> None:
    """Set both the soft and the hard limit `which` (a `resource.RLIMIT_*`) of this process, never above the hard limit.

    Raises OSError or ValueError where the system refuses; that is a sandbox fault, never the guest's.
    """
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        amount = min(amount, hard)
    resource.setrlimit(which, (amount, amount))


def cap_growth(amount_bytes: int) -> None:
    """Let the address space of this process grow by `amount_bytes` from here: what it was forked with does not count."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # no Linux: macOS does not enforce this limit at all
        held = 0
    cap(resource.RLIMIT_AS, held + amount_bytes)


def cap_cpu(seconds: float) -> None:
    """Let the kernel end this process about a second after `seconds` more of CPU time: the backstop of a dead parent.

    Only the soft limit moves, so that it can be raised again for the next section.
    """
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = math.ceil(time.process_time() + seconds) + 1
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def cpu_time_s(pid: int) -> float | None:
    """CPU seconds that all threads of a living process have used; None where the system has no such clock (macOS)."""
    if sys.platform != "linux":
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return None


def pid_behind(handle: int) -> int:
    """The process number behind a pidfd, as this process sees it; 0 when it cannot be learnt or the process is gone."""
    try:
        descriptor = os.open(f"/proc/self/fdinfo/{handle}", os.O_RDONLY)
    except OSError:
        return 0
    try:
        _, _, rest = os.read(descriptor, 4096).partition(b"\nPid:")
    finally:
        os.close(descriptor)
    return max(0, int(rest.split(None, 1)[0])) if rest else 0


def die_with_parent() -> None:
    """Ask Linux for SIGKILL when the parent ends; elsewhere the end of the pipe has to do.

    The kernel counts the end of the *thread* that forked, so only a fork from the main thread may ask for it.
    """
    if sys.platform == "linux" and threading.current_thread() is threading.main_thread():
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def no_new_privileges() -> None:
    """Take from this process and its children, on Linux, the power of set-user-id programmes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def kill_group(pid: int) -> None:
    """SIGKILL to the process group led by `pid`, and to `pid` itself in case it has not become a leader yet."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def reap(pid: int, timeout_s: float) -> tuple[int, resource.struct_rusage] | None:
    """Wait at most `timeout_s` for `pid`; its wait status and resource usage, or None when it is still there."""
    deadline = time.monotonic() + timeout_s
    pause_s = 0.0005
    while True:
        try:
            found, status, usage = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return 0, resource.getrusage(resource.RUSAGE_CHILDREN)
        if found:
            return status, usage
        if time.monotonic() >= deadline:
            return None
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.02)


def shut_descriptors(keep: set[int]) -> None:
    """Point every descriptor above 2 that is not in `keep` at the null device.

    Replaced, not closed: an inherited Python file object that is collected later then closes the null device
    instead of whatever has taken its number since.
    """
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    null = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir(folder):
        number = int(name)
        if number > 2 and number not in keep and number != null:
            with contextlib.suppress(OSError):
                os.fstat(number)
                os.dup2(null, number, inheritable=False)
    os.close(null)
