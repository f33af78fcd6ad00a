"""Folders that are written by code nobody trusts, and are gone afterwards."""

import contextlib
import os
import stat


def make(prefix: str) -> str:
    """A fresh private folder (mode 700) in the system's temporary folder."""
    import tempfile  # here, because a fork-server would carry its compression libraries into every fork

    return tempfile.mkdtemp(prefix=prefix)


def remove(path: str) -> None:
    """Delete the folder and all below it, whatever was done to its modes, however deep it is; links are not followed.

    Raises OSError when something of another owner, or a process still writing, keeps it from becoming empty.
    """
    with contextlib.suppress(FileNotFoundError):
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            empty(folder)
        finally:
            os.close(folder)
        os.rmdir(path)


def empty(folder: int) -> None:
    """Delete everything below the open descriptor `folder`.

    Deep trees are flattened on the way: sub-folders move up beside their parent, so neither recursion nor the number of
    open descriptors grows with the depth.
    """
    serial = 0
    while names := os.listdir(folder):
        for name in names:
            if not _is_folder(name, folder):
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, 0o700, dir_fd=folder)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            try:
                for child in os.listdir(inner):
                    if not _is_folder(child, inner):
                        os.unlink(child, dir_fd=inner)
                        continue
                    os.chmod(child, 0o700, dir_fd=inner)
                    serial += 1
                    while _exists(f".gone{serial}", folder):
                        serial += 1
                    os.rename(child, f".gone{serial}", src_dir_fd=inner, dst_dir_fd=folder)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
