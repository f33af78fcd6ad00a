"""A world of its own for a fork-server: user, mount, pid, net, ipc, uts and cgroup namespaces and a read-only root."""

import os
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass

from sandbox import syscalls
from sandbox.syscalls import MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY

WORK = "/work"
"""The one writable folder: a small tmpfs, also reachable as /tmp, wiped after every guest."""
WORK_BYTES, WORK_FILES = 16 << 20, 1024
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_INNER_USER = 1000
_EVERYTHING = (
    syscalls.NEWUSER
    | syscalls.NEWNS
    | syscalls.NEWPID
    | syscalls.NEWNET
    | syscalls.NEWIPC
    | syscalls.NEWUTS
    | syscalls.NEWCGROUP
)
_BUILD_AT = "/sys"
"""Any folder will do: the mounts are seen by nobody else. This one holds nothing that has to be bound."""


@dataclass(frozen=True)
class Visible:
    """What of the host a guest may read: folders, single files, and folders inside them that are covered."""

    folders: list[str]
    files: list[str]
    covered: list[str]


def visible() -> Visible:
    """The standard library and the system's shared libraries; no site-packages, no programme, no configuration."""
    standard = dict.fromkeys([sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")])
    shared = [f"{top}/lib/{syscalls.MACHINE}-linux-gnu" for top in ("/usr", "")] + ["/usr/lib64", "/lib64"]
    shared = [folder for folder in shared if os.path.isdir(folder)] or ["/usr/lib", "/lib"]
    folders = list(standard)
    private = str(sysconfig.get_config_var("LIBDIR") or "")
    if private.startswith(sysconfig.get_config_var("prefix") + "/") and not private.startswith("/usr/"):
        folders.append(private)  # an interpreter with a prefix of its own keeps its shared libraries there
    for folder in [*shared, "/usr/share/zoneinfo"]:
        if os.path.isdir(folder) and os.path.realpath(folder) not in map(os.path.realpath, folders):
            folders.append(folder)
    library = os.path.join(private, str(sysconfig.get_config_var("INSTSONAME") or ""))
    files = [path for path in (library, "/etc/ld.so.cache") if os.path.isfile(path)]
    covered = [
        os.path.join(folder, name)
        for folder in standard
        for name in ("site-packages", "dist-packages")
        if os.path.isdir(os.path.join(folder, name))
    ]
    return Visible(folders, files, covered)


def enter(user: int, furnish: Callable[[str], None]) -> None:
    """Leave the host: afterwards this process has all capabilities in a user namespace and sees only what is furnished.

    `furnish` fills the new root, an empty tmpfs that is the working directory, by `bind`, `bind_file` and
    `syscalls.mount` on relative paths; it is given the mount options that make a tmpfs the guest's own. Then the root
    becomes read-only. This process ends up as `user`, see `own_user`; its pid namespace begins with the next fork.
    Raises OSError where the machine does not allow it, at whichever step that shows: some systems refuse the namespace,
    some the map, some the first mount.
    """
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    root = os.geteuid() == 0
    if root:
        # As root the tree is built first: the interpreter may live where only root can look.
        try:
            syscalls.unshare(syscalls.NEWNS)
        except PermissionError:
            root = False
        else:
            _build_root(furnish, f",uid={user},gid={user}")
        become(user)
    uid, gid = os.getuid(), os.getgid()
    syscalls.unshare(_EVERYTHING)
    # Never 0 inside: the kernel does not count the processes of root.
    _write(proc, "self/setgroups", "deny")
    _write(proc, "self/uid_map", f"{_INNER_USER} {uid} 1")
    _write(proc, "self/gid_map", f"{_INNER_USER} {gid} 1")
    if not root:
        _build_root(furnish, "")
    syscalls.set_host_name(b"sandbox")
    os.close(proc)


def own_user(wanted: int) -> int:
    """The user that guests run as: `wanted` for root, if that number exists in a container's map, else who we are."""
    if os.geteuid() != 0:
        return os.geteuid()
    with open("/proc/self/setgroups") as setting:
        allowed = setting.read().strip() == "allow"
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/self/{name}") as lines:
            spans = [[int(word) for word in line.split()] for line in lines]
        allowed = allowed and any(start <= wanted < start + size for start, _, size in spans)
    return wanted if allowed else os.geteuid()


def become(user: int) -> None:
    """Give up root for `user`, unless that is who we are."""
    if os.geteuid() == user:
        return
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    # Changing the user cleared it, and without it the maps below /proc/self belong to root.
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)


def _build_root(furnish: Callable[[str], None], owner: str) -> None:
    syscalls.mount("none", "/", None, syscalls.MS_REC_PRIVATE)
    syscalls.mount("tmpfs", _BUILD_AT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=4096")
    os.chdir(_BUILD_AT)
    furnish(owner)
    syscalls.restrict_mount(".", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, recursive=False)
    syscalls.pivot_to_cwd()


def furnish_for_guests(owner: str) -> None:
    """Libraries, four devices and the small writable folder."""
    seen = visible()
    for folder in seen.folders:
        target = "." + folder
        if not os.path.isdir(target):
            bind(folder, MS_NOSUID | MS_NODEV | MS_RDONLY)
    for path in seen.files:
        if not os.path.exists("." + path):
            bind_file(path, MS_NOSUID | MS_NODEV | MS_RDONLY)
    for folder in seen.covered:
        flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
        syscalls.mount("tmpfs", "." + folder, "tmpfs", flags, "mode=555,size=4k,nr_inodes=2")
    for device in DEVICES:
        bind_file(device, MS_NOSUID | MS_NOEXEC)
    os.makedirs("." + WORK)
    if not os.path.lexists("./tmp"):
        os.symlink(WORK[1:], "./tmp")
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    syscalls.mount("tmpfs", "." + WORK, "tmpfs", flags, f"mode=700,size={WORK_BYTES},nr_inodes={WORK_FILES}{owner}")


def bind(path: str, flags: int, at: str | None = None) -> None:
    """Show a folder of the host in the new root, at the same place unless told otherwise, with MS_* flags added."""
    target = "." + (at or path)
    os.makedirs(target, exist_ok=True)
    _mount_bound(os.path.realpath(path), target, flags)


def bind_file(path: str, flags: int) -> None:
    """The same for a file or device."""
    os.makedirs("." + os.path.dirname(path), exist_ok=True)
    with open("." + path, "w"):
        pass
    _mount_bound(os.path.realpath(path), "." + path, flags)


def _mount_bound(source: str, target: str, flags: int) -> None:
    syscalls.mount(source, target, None, syscalls.MS_REC_BIND)
    syscalls.restrict_mount(target, flags, recursive=True)


def _write(folder: int, name: str, text: str) -> None:
    descriptor = os.open(name, os.O_WRONLY, dir_fd=folder)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
