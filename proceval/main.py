"""The one entry point: compose, check, build the stage with its parts, run it in its folder, end with a documented status.

Exit statuses: 0 fine, 1 a finding, 2 bad input or usage, 3 something stayed unscored, 130 interrupted.
"""

import errno
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from proceval import config, credentials, grammar, provenance, sweeping, together, words
from proceval.conftree import config_dir
from proceval.errors import InputError, ProcevalError
from proceval.folder import RunFolder
from proceval.naming import option
from proceval.seeding import digest
from proceval.stage import progress
from proceval.stage.report import Untold, show_sweep

UNSCORED = 3
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
WRONG = (HydraException, OmegaConfBaseException, InputError)
config.register()  # on import, so that a launcher's worker processes have the resolvers too
_last_status = 0


def execute(cfg: DictConfig, sweep_job: sweeping.Job | None = None) -> int:
    """One Hydra job: the whole programme on one screen."""
    settings = config.plain(cfg)
    checked = config.check(settings)
    together.check(settings, HydraConfig.get().overrides.task)
    stage = config.build(settings["stage"], "stage")
    own = Path(words.shown(HydraConfig.get().runtime.output_dir))
    in_place = stage.in_place and checked.dataset is not None and Path(checked.dataset).is_dir()
    folder = RunFolder(
        path=Path(words.shown(checked.dataset)) if in_place and checked.dataset else own,
        settings=settings,
        inputs=config.generation_identity(settings),
        outputs=Path(checked.outputs),
        dataset=checked.dataset,
    )
    identity = config.identity(settings)
    if not in_place:
        folder.check_owner(identity)
    stage.check(folder)
    with folder.open(fresh=checked.fresh and not in_place, writes=stage.writes):
        writes = stage.writes and not in_place
        if sweep_job is not None and sweep_job.stands(_everything(settings)) and writes and not checked.fresh:
            progress.say("this job stands already, with the same configuration and versions; fresh=true runs it anew")
            return 0
        if writes:
            commit = provenance.git_commit(config_dir())
            folder.write_config(
                config.redact(settings), identity=identity, versions=provenance.versions(), git_commit=commit
            )
        with Untold(stage, folder) as untold:
            untold.status = stage.run(folder)
        if stage.writes and sweep_job is None:
            made = getattr(stage, "made", None)  # where a stage leaves what it makes elsewhere, and what to do with it
            then = stage.then if untold.status != UNSCORED else ["stage=doctor"]
            progress.where(*made or (folder.path, _next(then, sys.argv[1:], settings)))
    return untold.status


def job(cfg: DictConfig) -> int:
    """`execute`, with every expected failure turned into one sentence and a status; in a sweep the other jobs go on."""
    global _last_status
    hydra_config = HydraConfig.get()
    folder = Path(hydra_config.runtime.output_dir)
    if hydra_config.mode is RunMode.MULTIRUN:
        with sweeping.Job(folder, hydra_config.overrides.task, hydra_config.launcher._target_) as one:
            one.status = one.status if one.refused else _explained(cfg, one)
        return one.status
    _last_status = _explained(cfg, None)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()  # a lone run that never started leaves no empty folder
    return _last_status


def _explained(cfg: DictConfig, sweep_job: sweeping.Job | None) -> int:
    try:
        return execute(cfg, sweep_job)
    except ProcevalError as error:
        sentence, status = str(error), error.exit_status
    except OSError as error:
        if error.filename is None and error.errno not in FULL:
            raise
        sentence, status = _about_a_file(error), UNSCORED if error.errno in FULL else InputError.exit_status
    sentence = credentials.redact(sentence)
    if sweep_job is not None:
        sweep_job.reason = sentence
    print(f"proceval: {sentence}", file=sys.stderr)
    return status


def _everything(settings: dict[str, Any]) -> str:
    """Identity of all that a finished job follows from, versions included."""
    shown = {key: value for key, value in settings.items() if key not in ("workers", "fresh")}
    return digest({"settings": shown, "versions": provenance.versions()})


def run() -> int:
    """Parse the command line, run its job or jobs, and return the process's exit status."""
    arguments = sys.argv[1:]
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra raises to us instead of printing a traceback
    entry = hydra.main(version_base="1.3", config_path=str(config_dir()), config_name="config")(job)
    try:
        sys.argv[1:] = readable = words.ordered(grammar.legible(arguments))
        found = grammar.read(readable)
        if not words.sweeping(arguments):
            entry()
            return _last_status
        sweep = sweeping.folder(arguments, found)
        sys.argv[1:] = [*readable, *sweeping.added(sweep, found)]
        with sweeping.Launch(sweep, WRONG) as launch:
            entry()
        sys.argv[1:] = arguments
        return _after(sweep, launch.broken)
    except WRONG as error:
        print(f"proceval: {credentials.redact(_one_sentence(error))}", file=sys.stderr)
        return 2
    except OSError as error:  # the run folder itself, which Hydra makes
        if error.filename is None and error.errno not in FULL:
            raise
        print(f"proceval: {_about_a_file(error)}", file=sys.stderr)
        return 2


def _after(sweep: Path, broken: bool) -> int:
    """The table of a whole sweep, the failed jobs among them, and its exit status: the worst of its jobs'."""
    statuses = sweeping.exit_statuses(sweep)
    if any(sweep.glob("[0-9]*/summary.json")) or any(statuses):
        show_sweep(sweep, _pass_k(sweep))
        progress.where(sweep, words.command(["stage=report", f"dataset={sweep}"]))
    absent = sweeping.missing(sweep)
    if absent or broken:
        progress.say(f"proceval: {absent} jobs never started; what finished stands, the same command runs the rest")
    return max([*statuses, int(bool(absent) or broken)], default=1)


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
    return f"{error.filename or 'a write was refused'}: {(error.strerror or 'refused').lower()}; {advice}"


def _next(then: Sequence[str], arguments: Sequence[str], settings: dict[str, Any]) -> str:
    """The next command: the same words but for what `then` replaces."""
    own, options = words.overrides(arguments), words.options(arguments)
    if settings["dry_run"]:
        return words.command([*options, *(a for a in own if not a.startswith("dry_run="))])
    sweep = "--multirun" in then
    if sweep and option(settings["track"]) != "solve":
        sweep, then = False, ["stage=selftest", "dataset=null"]
    keys = {word.partition("=")[0] for word in then}
    gone = {*keys, "shard.index", "dry_run", "fresh", *(["shard.count"] if "stage=merge" in arguments else [])}
    kept = [a for a in own if a.partition("=")[0] not in gone]
    return words.command([*options, *(_beside(own, settings) if sweep else [*kept, *then])])


def _beside(arguments: Sequence[str], settings: dict[str, Any]) -> list[str]:
    """Words of a sweep beside a lone run: what somebody chose stays, its model is compared with another one."""
    gone = ("stage", "model", "fresh", "dry_run", "rescore", "compare")
    kept = [a for a in arguments if a.partition("=")[0] not in gone]
    if not (Path(settings["dataset"] or "") / "dataset.jsonl").is_file():  # such as a sweep that was reported
        kept = [a for a in kept if not a.startswith("dataset=")]
    own = [a.lstrip("+") for a in kept]
    model = str(HydraConfig.get().runtime.choices["model"])
    swept = [f"model={model},{'mock' if model == 'gold' else 'gold'}"]
    if any(a.startswith("model.") for a in own):  # which fit no other model
        kept, swept = [f"model={model}", *kept], []
    if not any(a.startswith(("difficulty", "dataset=", "experiment=")) for a in own):
        swept.append("difficulty=easy,hard")
    return ["--multirun", *kept, *swept] if swept else [*kept, "stage=export"]


def _one_sentence(error: BaseException) -> str:
    """Hydra's message on few lines: what is wrong and which options there are."""
    text = str(error)
    if "is not in struct" in text + str(error.__cause__):
        parent = getattr(error.__cause__, "parent_node", None)
        if isinstance(parent, DictConfig) and getattr(error.__cause__, "full_key", None):
            return words.unknown(str(error.__cause__.full_key), [str(key) for key in parent])  # type: ignore[union-attr]
        key = re.search(r"Could not (?:override|find) '([^']+)'", text)
        return f"unknown key '{key[1] if key else '?'}': no such key here (is the option that would hold it chosen?)"
    launcher = re.search(r"Could not (?:find|load) 'hydra/launcher/(submitit|ray)", text)
    if launcher:
        return f"this launcher is an extra of its own: pip install -e '.[{launcher[1]}]' (docs/scale-out.md)"
    noise = ("Config search path", "provider=", "See https", "Set the environment variable", "full_key", "object_type")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(noise)]
    text = " ".join(lines).removeprefix("InputError raised while resolving interpolation: ")
    if "Exception:" in text:
        text += " (a value with spaces or other signs needs quotes within quotes: 'key=\"value\"')"
    cause = error.__cause__
    if cause is not None and str(cause).splitlines() and str(cause).splitlines()[0] not in text:
        text += f" ({str(cause).splitlines()[0]})"
    return text
