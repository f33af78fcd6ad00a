"""Choices that do not go together, found in the settings alone: said before anything is built, made or paid for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proceval.conftree import config_dir, groups
from proceval.errors import InputError
from proceval.naming import TARGET, option

OF_PROBLEMS = ("audit", "demo", "export", "merge", "push", "release", "verify")
"""Stages that need problems with proofs; a track with cases of its own has none."""
OF_CASES = ("selftest",)
"""Stages for tracks with cases of their own; the scorers of proved problems test themselves before every run."""
ASKING = ("benchmark", "evaluate")
KEYS = {
    "against": ("verify",),
    "compare": ("report",),
    "id": ("show",),
    "reference": ("audit",),
    "release": ("export", "push", "release"),
    "repo_id": ("export", "push", "release"),
    "tests": ("audit",),
}
"""Keys that are null unless one of these stages is meant."""
IN_FOLDERS = ("command", "scripted_reviewer")
"""Models that can review files in a folder of their own."""

Plain = dict[str, Any]


def check(settings: Plain, words: Sequence[str]) -> None:
    """Raises InputError for the first pair that makes no sense; `words` are the overrides that somebody wrote."""
    track, stage = option(settings["track"]), option(settings["stage"])
    for name, judge in (settings["track"].get("judges") or {}).items():
        if not isinstance(judge, dict) or TARGET not in judge:
            raise InputError(f"track.judges.{name} is no model; choose one, +model@track.judges.{name}=OPTION")
    unfit = OF_CASES if track == "solve" else OF_PROBLEMS
    if stage in unfit:
        fit = ", ".join(name for name in groups(config_dir())["stage"] if name not in unfit)
        raise InputError(f"stage={stage} has no use for track={track}; the stages of track={track} are {fit}")
    for key, stages in KEYS.items():
        if settings[key] is not None and stage not in stages:
            raise InputError(f"{key}= is for stage={' or stage='.join(stages)}, and this is stage={stage}")
    if stage in ASKING:
        _asked(settings, track, words)
    if settings["compare"] is not None:
        first, second = settings["compare"]
        if Path(first).resolve() == Path(second).resolve():
            raise InputError(f"compare=[{first},{second}] is one run; give two different run folders, compare=[A,B]")


def _asked(settings: Plain, track: str, words: Sequence[str]) -> None:
    """Of a run that asks a model: how it asks, and how often."""
    strategy, model = option(settings["strategy"]), option(settings["model"])
    if track != "solve" and strategy != "flat":
        raise InputError(
            f"strategy={strategy} needs public tests, which track={track} does not have; give strategy=flat"
        )
    if track == "review":
        files = settings["track"]["files"]
        if files == "workspace" and model not in IN_FOLDERS:
            raise InputError(
                f"track.files=workspace is for a model that works in a folder, such as model=command, and model={model} "
                "only answers; give track.files=prompt or track.files=tools"
            )
        if files != "workspace" and model == "command":
            raise InputError(f"model=command works in a folder; give track.files=workspace instead of {files}")
    most, samples = max(settings["pass_k"]), settings["samples"]
    said = any(word.lstrip("+").startswith("pass_k=") for word in words)
    if said and most > samples:  # the usual [1, 3, 5] stays undefined beyond the samples, and shows that
        raise InputError(f"pass_k={settings['pass_k']}: pass@{most} takes {most} samples, and samples={samples}")
