"""The Linux system calls that Python's `os` lacks, through ctypes; every failure is an OSError that names the call.

Numbers are those of the kernel's x86-64 and generic (aarch64) tables; another machine has no `NUMBERS`, and without
them no seccomp layer.
"""

import ctypes
import errno
import functools
import os
import struct

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
CLONE_THREAD = 0x10000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REC_PRIVATE, MS_REC_BIND = 0x4000 | 0x40000, 0x4000 | 0x1000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
_AT_FDCWD, _AT_RECURSIVE, _MNT_DETACH = -100, 0x8000, 2
_CAPABILITY_VERSION_3 = 0x20080522

MACHINE = os.uname().machine

# The file, memory, time and thread calls that a Python programme needs, by name.
_X86_64 = """
read 0 write 1 open 2 close 3 stat 4 fstat 5 lstat 6 poll 7 lseek 8 mmap 9 mprotect 10 munmap 11 brk 12 rt_sigaction 13
rt_sigprocmask 14 rt_sigreturn 15 ioctl 16 pread64 17 pwrite64 18 readv 19 writev 20 access 21 pipe 22 select 23
sched_yield 24 mremap 25 msync 26 mincore 27 madvise 28 dup 32 dup2 33 pause 34 nanosleep 35 getitimer 36 alarm 37
setitimer 38 getpid 39 sendto 44 recvfrom 45 shutdown 48 getsockname 51 getpeername 52 socketpair 53 setsockopt 54
getsockopt 55 clone 56 exit 60 uname 63 fcntl 72 fsync 74 fdatasync 75 truncate 76 ftruncate 77 getdents 78 getcwd 79
chdir 80 fchdir 81 rename 82 mkdir 83 rmdir 84 creat 85 link 86 unlink 87 symlink 88 readlink 89 chmod 90 fchmod 91
umask 95 gettimeofday 96 getrlimit 97 getrusage 98 sysinfo 99 times 100 getuid 102 getgid 104 geteuid 107 getegid 108
getppid 110 getpgrp 111 getgroups 115 getresuid 118 getresgid 120 getpgid 121 getsid 124 rt_sigpending 127
rt_sigtimedwait 128 rt_sigsuspend 130 sigaltstack 131 statfs 137 fstatfs 138 sched_getparam 143 sched_getscheduler 145
prctl 157 arch_prctl 158 gettid 186 tkill 200 time 201 futex 202 sched_getaffinity 204 epoll_create 213 getdents64 217
set_tid_address 218 fadvise64 221 clock_gettime 228 clock_getres 229 clock_nanosleep 230 exit_group 231 epoll_wait 232
epoll_ctl 233 tgkill 234 openat 257 mkdirat 258 newfstatat 262 unlinkat 263 renameat 264 linkat 265 symlinkat 266
readlinkat 267 fchmodat 268 faccessat 269 pselect6 270 ppoll 271 set_robust_list 273 get_robust_list 274 utimensat 280
epoll_pwait 281 eventfd2 290 epoll_create1 291 dup3 292 pipe2 293 preadv 295 pwritev 296 prlimit64 302 getcpu 309
renameat2 316 getrandom 318 copy_file_range 326 statx 332 rseq 334 close_range 436
kill 62
"""
_AARCH64 = """
getcwd 17 eventfd2 19 epoll_create1 20 epoll_ctl 21 epoll_pwait 22 dup 23 dup3 24 fcntl 25 ioctl 29 mkdirat 34
unlinkat 35 symlinkat 36 linkat 37 renameat 38 statfs 43 fstatfs 44 truncate 45 ftruncate 46 faccessat 48 chdir 49
fchdir 50 fchmod 52 fchmodat 53 openat 56 close 57 pipe2 59 getdents64 61 lseek 62 read 63 write 64 readv 65 writev 66
pread64 67 pwrite64 68 preadv 69 pwritev 70 pselect6 72 ppoll 73 readlinkat 78 newfstatat 79 fstat 80 fsync 82
fdatasync 83 utimensat 88 exit 93 exit_group 94 set_tid_address 96 futex 98 set_robust_list 99 get_robust_list 100
nanosleep 101 getitimer 102 setitimer 103 clock_gettime 113 clock_getres 114 clock_nanosleep 115 sched_getscheduler 120
sched_getparam 121 sched_getaffinity 123 sched_yield 124 kill 129 tkill 130 tgkill 131 sigaltstack 132 rt_sigsuspend 133
rt_sigaction 134 rt_sigprocmask 135 rt_sigpending 136 rt_sigtimedwait 137 rt_sigreturn 139 getresuid 148 getresgid 150
times 153 getpgid 155 getsid 156 getgroups 158 uname 160 getrusage 165 umask 166 prctl 167 getcpu 168 gettimeofday 169
getpid 172 getppid 173 getuid 174 geteuid 175 getgid 176 getegid 177 gettid 178 sysinfo 179 socketpair 199
getsockname 204 getpeername 205 sendto 206 recvfrom 207 setsockopt 208 getsockopt 209 shutdown 210 brk 214 munmap 215
mremap 216 clone 220 mmap 222 fadvise64 223 mprotect 226 msync 227 mincore 232 madvise 233 prlimit64 261 renameat2 276
getrandom 278 copy_file_range 285 statx 291 rseq 293 close_range 436
"""
# What a shell command in a workspace must not call; everything else it may.
_FORBIDDEN_X86_64 = """
ptrace 101 syslog 103 personality 135 pivot_root 155 chroot 161 acct 163 mount 165 umount2 166 swapon 167 reboot 169
iopl 172 ioperm 173 init_module 175 delete_module 176 quotactl 179 clock_settime 227 kexec_load 246 add_key 248
request_key 249 keyctl 250 unshare 272 perf_event_open 298 fanotify_init 300 name_to_handle_at 303
open_by_handle_at 304 setns 308 process_vm_readv 310 process_vm_writev 311 finit_module 313 kexec_file_load 320
bpf 321 userfaultfd 323
"""
_FORBIDDEN_AARCH64 = """
umount2 39 mount 40 pivot_root 41 chroot 51 quotactl 60 acct 89 personality 92 unshare 97 kexec_load 104
init_module 105 delete_module 106 clock_settime 112 syslog 116 ptrace 117 reboot 142 add_key 217 request_key 218
keyctl 219 swapon 224 perf_event_open 241 fanotify_init 262 name_to_handle_at 264 open_by_handle_at 265 setns 268
process_vm_readv 270 process_vm_writev 271 finit_module 273 bpf 280 userfaultfd 282 kexec_file_load 294
"""
_FORBIDDEN_EVERYWHERE = """
io_uring_setup 425 io_uring_enter 426 io_uring_register 427 open_tree 428 move_mount 429 fsopen 430 fsconfig 431
fsmount 432 fspick 433 pidfd_getfd 438 mount_setattr 442
"""
_OWN = {
    "x86_64": {"capset": 126, "pivot_root": 155, "seccomp": 317, "clone": 56},
    "aarch64": {"pivot_root": 41, "capset": 91, "seccomp": 277, "clone": 220},
}.get(MACHINE, {})
# What a fork-server calls after its filter is in place, beyond what its guests may.
_SERVER_X86_64 = "sendmsg 46 recvmsg 47 wait4 61 capset 126"
_SERVER_AARCH64 = "capset 91 sendmsg 211 recvmsg 212 wait4 260"
# These have one number on every machine.
_SHARED = {"close_range": 436, "mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_add_rule": 445}
_SHARED["landlock_restrict_self"] = 446


def _table(text: str) -> dict[str, int]:
    words = text.split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


NUMBERS = {"x86_64": _table(_X86_64), "aarch64": _table(_AARCH64)}.get(MACHINE, {})
"""What a guest may call at all, by name; empty on a machine without a table."""

SERVER_NUMBERS = {"x86_64": _table(_SERVER_X86_64), "aarch64": _table(_SERVER_AARCH64)}.get(MACHINE, {})
"""What a fork-server may call besides, by name."""

_SPECIFIC = {"x86_64": _table(_FORBIDDEN_X86_64), "aarch64": _table(_FORBIDDEN_AARCH64)}.get(MACHINE)
FORBIDDEN = {} if _SPECIFIC is None else _SPECIFIC | _table(_FORBIDDEN_EVERYWHERE)
"""What a command may not call, by name; empty on a machine without a table."""
CLONE, SOCKET, CLONE3 = {"x86_64": (56, 41, 435), "aarch64": (220, 198, 435)}.get(MACHINE, (0, 0, 0))

# PyDLL keeps the interpreter lock: the callers are single-threaded, and releasing it costs more than these calls.
_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
_libc.umount2.argtypes = [ctypes.c_char_p, ctypes.c_int]
_unshare, _setns = _libc.unshare, _libc.setns


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(name: str, *arguments: object) -> int:
    """A raw system call by name, arguments as ctypes objects or bytes; OSError with ENOSYS where it has no number."""
    number = _OWN.get(name, _SHARED.get(name))
    if number is None:
        raise OSError(errno.ENOSYS, f"{name}: no number for {MACHINE}")
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), name)


def current_cpu() -> int:
    """Number of the processor that this thread runs on just now."""
    return _checked(_libc.sched_getcpu(), "sched_getcpu")


def unshare(flags: int) -> None:
    _checked(_unshare(flags), "unshare")


def setns(descriptor: int, flags: int) -> None:
    _checked(_setns(descriptor, flags), "setns")


def prctl(option: int, argument: int) -> None:
    _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), 0, 0, 0), "prctl")


def set_host_name(name: bytes) -> None:
    _checked(_libc.sethostname(name, ctypes.c_size_t(len(name))), "sethostname")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    what = kind.encode() if kind else None
    result = _libc.mount(os.fsencode(source), os.fsencode(target), what, flags, options.encode() or None)
    _checked(result, f"mount {source} on {target}")


def restrict_mount(target: str, flags: int, recursive: bool) -> None:
    """Add MS_* `flags` to a mount and, if `recursive`, to all below it (mount_setattr, Linux 5.12)."""
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    call(
        "mount_setattr",
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_AT_RECURSIVE if recursive else 0),
        attributes,
        ctypes.c_size_t(len(attributes)),
    )


def pivot_to_cwd() -> None:
    """Make the working directory, which is a mount, the root, and let go of the old root."""
    call("pivot_root", b".", b".")
    _checked(_libc.umount2(b".", _MNT_DETACH), "umount2")
    os.chdir("/")


FORK_FLAGS = NEWPID | 0x1000 | 17
"""A child in a process namespace of its own, a pidfd of it, SIGCHLD at its end: needs CAP_SYS_ADMIN, which no guest has."""


class Fork:
    """fork() into a new process namespace, by one call and without any handlers: for a process that has one thread.

    Gives 0 in the child, else the child's number as this process sees it, and then `pidfd` holds its descriptor.
    """

    def __init__(self) -> None:
        if "clone" not in _OWN:
            raise OSError(errno.ENOSYS, f"clone: no number for {MACHINE}")
        self._pidfd = ctypes.c_int(-1)
        address = ctypes.addressof(self._pidfd)
        self._run = functools.partial(
            _libc.syscall,
            ctypes.c_long(_OWN["clone"]),
            ctypes.c_ulong(FORK_FLAGS),
            ctypes.c_void_p(0),
            ctypes.c_void_p(address),
            ctypes.c_void_p(0),
            ctypes.c_void_p(0),
        )

    def __call__(self) -> int:
        return _checked(self._run(), "clone")

    def pidfd(self) -> int:
        return self._pidfd.value


class Prepared:
    """A system call with all arguments built beforehand: a forked child that makes it copies fewer pages."""

    __slots__ = ("_keep", "_name", "_run")

    def __init__(self, name: str, *arguments: object, keep: object = None) -> None:
        self._keep = keep
        if name not in _OWN and name not in _SHARED:
            raise OSError(errno.ENOSYS, f"{name}: no number for {MACHINE}")
        self._name = name
        self._run = functools.partial(_libc.syscall, ctypes.c_long(_OWN.get(name, _SHARED.get(name, -1))), *arguments)

    def __call__(self) -> None:
        if self._run() < 0:
            _checked(-1, self._name)


def drop_capabilities() -> Prepared:
    """Give up every capability, for good once no_new_privs is set."""
    header = ctypes.create_string_buffer(struct.pack("II", _CAPABILITY_VERSION_3, 0), 8)
    return Prepared("capset", header, ctypes.create_string_buffer(24))


def close_from(first: int) -> Prepared:
    """Close every descriptor from `first` on (Linux 5.9)."""
    return Prepared("close_range", ctypes.c_uint(first), ctypes.c_uint(0xFFFFFFFF), ctypes.c_uint(0))


def install_filter(programme: bytes) -> Prepared:
    """Put a seccomp filter on this thread; needs no_new_privs. SPEC_ALLOW: no costly mitigations on old kernels."""
    buffer = ctypes.create_string_buffer(programme, len(programme))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(programme) // 8, ctypes.addressof(buffer)), 16)
    return Prepared("seccomp", ctypes.c_uint(1), ctypes.c_uint(4), header, keep=buffer)
