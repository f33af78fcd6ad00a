"""The one entry point: compose, check, build the stage with its parts, run it in its folder, end with a documented status.

Exit statuses: 0 fine, 1 a finding, 2 bad input or usage, 3 something stayed unscored, 130 interrupted.
"""

import errno
import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from proceval import config
from proceval.conftree import config_dir
from proceval.errors import InputError, ProcevalError
from proceval.folder import RunFolder, sweep_statuses, write_status
from proceval.stage import progress
from proceval.stage.report import show_sweep

INTERRUPTED, UNSCORED = 130, 3
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
config.register()  # on import, so that a launcher's worker processes have the resolvers too
_last_status = 0


def execute(cfg: DictConfig) -> int:
    """One Hydra job: the whole programme on one screen."""
    settings = config.plain(cfg)
    checked = config.check(settings)
    stage = config.build(settings["stage"], "stage")
    own = Path(HydraConfig.get().runtime.output_dir)
    in_place = stage.in_place and checked.dataset is not None and Path(checked.dataset).is_dir()
    folder = RunFolder(
        path=Path(checked.dataset) if in_place and checked.dataset else own,
        settings=settings,
        inputs=config.generation_identity(settings),
        outputs=Path(checked.outputs),
        dataset=checked.dataset,
    )
    stage.check(folder)
    with folder.open(fresh=checked.fresh and not in_place, writes=stage.writes):
        if stage.writes and not in_place:
            folder.write_config(
                config.redact(settings), versions=config.versions(), git_commit=config.git_commit(config_dir())
            )
        status: int = stage.run(folder)
        if stage.writes:
            progress.where(folder.path, _next(stage.then if status != UNSCORED else ["stage=doctor"], sys.argv[1:]))
    return _ended(status)


def job(cfg: DictConfig) -> int:
    """`execute`, with every expected failure turned into one sentence and a status; in a sweep the other jobs go on."""
    try:
        return execute(cfg)
    except ProcevalError as error:
        print(f"proceval: {error}", file=sys.stderr)
        return _ended(error.exit_status)
    except OSError as error:
        if error.filename is None:
            raise
        print(f"proceval: {_about_a_file(error)}", file=sys.stderr)
        return _ended(UNSCORED if error.errno in FULL else InputError.exit_status)
    except KeyboardInterrupt:
        _ended(INTERRUPTED)
        raise


def _ended(status: int) -> int:
    """Note how a job ended where a sweep looks for it; a lone run that never started leaves no empty folder."""
    global _last_status
    _last_status = status
    hydra_config = HydraConfig.get()
    folder = Path(hydra_config.runtime.output_dir)
    if hydra_config.mode is RunMode.MULTIRUN:
        write_status(folder, status)
    elif folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return status


def run() -> int:
    """Parse the command line, run its job or jobs, and return the process's exit status."""
    arguments = sys.argv[1:]
    sweeping = any(a in ("-m", "--multirun") for a in arguments)
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra raises to us instead of printing a traceback
    os.environ["PROCEVAL_SWEEP"] = config.sweep_folder(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill resumes like Ctrl-C
    entry = hydra.main(version_base="1.3", config_path=str(config_dir()), config_name="config")(job)
    try:
        entry()
    except (HydraException, OmegaConfBaseException, InputError) as error:
        print(f"proceval: {_one_sentence(error)}", file=sys.stderr)
        return 2
    except OSError as error:  # the run folder itself, which Hydra makes
        if error.filename is None:
            raise
        print(f"proceval: {_about_a_file(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            f"\nproceval: interrupted; nothing finished is lost. Resume with:\n  {_command(arguments)}", file=sys.stderr
        )
        return INTERRUPTED
    if not sweeping:
        return _last_status
    folder = Path(os.environ["PROCEVAL_SWEEP"])
    if any(folder.glob("[0-9]*/summary.json")):
        show_sweep(folder, _pass_k(folder))
        progress.where(folder, _command(["stage=report", f"dataset={folder}"]))
    return max(sweep_statuses(folder), default=1)


def _pass_k(sweep_folder: Path) -> list[int]:
    """The k of pass@k that the sweep's jobs asked for."""
    import yaml

    asked = [
        yaml.safe_load(path.read_text(encoding="utf-8"))["pass_k"] for path in sweep_folder.glob("[0-9]*/config.yaml")
    ]
    return sorted({k for ks in asked for k in ks}) or [1]


def _about_a_file(error: OSError) -> str:
    """One sentence on a path that the system refused, with what can be done about it."""
    advice = (
        "make room and run the same command again" if error.errno in FULL else "choose another outputs= or dataset="
    )
    return f"{error.filename}: {(error.strerror or 'refused').lower()}; {advice}"


def _next(then: Sequence[str], arguments: Sequence[str]) -> str:
    """The next command: the same words but for what `then` replaces; a sweep starts from the defaults."""
    keys = {word.partition("=")[0] for word in then}
    if "--multirun" in arguments or "-m" in arguments:
        return "the table of the whole sweep, below its last job"
    gone = {*keys, "shard.index", "dry_run", "fresh"}
    kept = [a for a in arguments if a.partition("=")[0] not in gone and not a.startswith("-")]
    same = [] if "--multirun" in then else kept
    return _command([*same, *then])


def _command(arguments: Sequence[str]) -> str:
    return shlex.join(["python", "-m", "proceval", *(a for a in arguments if a != "fresh=true")])


def _one_sentence(error: BaseException) -> str:
    """Hydra's message on few lines: what is wrong and which options there are."""
    text = str(error)
    if "is not in struct" in text + str(error.__cause__):
        key = re.search(r"Could not (?:override|find) '([^']+)'", text)
        return f"unknown key '{key[1] if key else '?'}': no such key here (is the option that would hold it chosen?)"
    noise = ("Config search path", "provider=", "See https", "Set the environment variable", "full_key", "object_type")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(noise)]
    text = " ".join(lines).removeprefix("InputError raised while resolving interpolation: ")
    if "Exception:" in text:
        text += " (a value with spaces or other signs needs quotes within quotes: 'key=\"value\"')"
    cause = error.__cause__
    if cause is not None and str(cause).splitlines() and str(cause).splitlines()[0] not in text:
        text += f" ({str(cause).splitlines()[0]})"
    return text
