"""How a guest's interpreter is started, the same in both sandboxes, and how missing layers are reported."""

import os
import sys

from sandbox.conversation import Refused

GUEST_FLAGS = ("-s", "-S", "-P", "-B")
"""No site-packages, user folder, script folder on the path or bytecode files; not -I, which ignores the hash seed."""


def interpreter() -> str:
    """Path of the real interpreter behind a virtual environment's link."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def guest_environment(home: str) -> dict[str, str]:
    """All that a guest ever sees in its environment; nothing of the host's is passed on."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "LD_BIND_NOW": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def report_missing(name: str, missing: tuple[str, ...], degraded: str) -> None:
    """Name missing layers on stderr, or raise Refused, a SandboxFault, when `degraded` is "refuse"."""
    if not missing:
        return
    text = f"sandbox {name} runs without: {'; '.join(missing)}"
    if degraded == "refuse":
        raise Refused(f"{text} (refused, because degraded=refuse)")
    print(f"WARNING: {text}", file=sys.stderr, flush=True)
