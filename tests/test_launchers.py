"""Sweeps and shards under every launcher, for real: joblib, submitit's local executor, a local Ray cluster.

Slurm's own commands are stood in for by small shell scripts, so that array scripts are written, submitted and followed as
on a cluster; there is no cluster here. A launcher that is not installed is skipped, unless PROCEVAL_LAUNCHERS=required, as
in CI. Ray lives in `.venv-ray`.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT

RAY = Path(os.environ.get("PROCEVAL_RAY_PYTHON", ROOT / ".venv-ray" / "bin" / "python"))
SUBMITIT = Path(os.environ.get("PROCEVAL_SUBMITIT_PYTHON", sys.executable))
LAUNCHERS = {
    "joblib": (Path(sys.executable), "hydra_plugins.hydra_joblib_launcher", ["hydra.launcher.n_jobs=2"]),
    "submitit_local": (SUBMITIT, "hydra_plugins.hydra_submitit_launcher", ["hydra.launcher.timeout_min=10"]),
    "slurm": (SUBMITIT, "hydra_plugins.hydra_submitit_launcher", ["hydra.launcher.array_parallelism=2"]),
    "ray": (
        RAY,
        "hydra_plugins.hydra_ray_launcher",
        ["+hydra.launcher.ray.init.num_cpus=2", "+hydra.launcher.ray.init.include_dashboard=false"],
    ),
}
SLURM = {
    "sbatch": r"""
        script="${@: -1}"; range=$(sed -n 's/^#SBATCH --array=0-\([0-9]*\).*/\1/p' "$script"); job=$$ text=$(cat "$script")
        for task in $(seq 0 "$range"); do
            (
                export SLURM_ARRAY_JOB_ID=$job SLURM_ARRAY_TASK_ID=$task SLURM_JOB_ID=$((job + task)) SLURM_NTASKS=1
                export SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_JOB_NUM_NODES=1 SLURM_JOB_NODELIST=here
                until [ -f "$(dirname "$script")/${job}_$task/${job}_${task}_submitted.pkl" ]; do sleep 0.2; done
                bash -c "$text"; touch "$(dirname "$0")/${job}_$task"
            ) >/dev/null 2>&1 </dev/null &
        done
        echo "Submitted batch job $job" """,
    "srun": r"""while ! { [[ "$1" == /* ]] && [ -x "$1" ]; }; do shift; done; exec "$@" """,
    "sacct": r"""echo "JobID|State|NodeList"; job=$(ps -o args= $$ | sed 's/.*-j \([0-9]*\).*/\1/')
        for task in $(seq 0 9); do
            if [ -f "$(dirname "$0")/${job}_$task" ]; then state=COMPLETED; else state=RUNNING; fi
            echo "${job}_$task|$state|here"
        done""",
    "scancel": "true",
}
"""Slurm's commands in a few words: sbatch starts the array's tasks side by side, sacct says which of them ended."""
SHARDED = ("stage=generate", "difficulty=[easy,hard]", "domain=[arrays,graphs]", "count=3", "seed=shards")
FILES = ("dataset.jsonl", "generation.json", "rejections.jsonl", "certificates/index.jsonl")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session", autouse=True)
def slurm(tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("slurm")
    for name, body in SLURM.items():
        (folder / name).write_text(f"#!/usr/bin/env bash\n{body}\n")
        (folder / name).chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def run(python: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-m", "proceval", *words], cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled"}, timeout=600,
    )  # fmt: skip


@pytest.fixture(params=LAUNCHERS)
def launcher(request) -> tuple[Path, list[str]]:
    """A launcher's Python and words, checked to be there."""
    python, module, words = LAUNCHERS[request.param]
    there = (
        python.is_file()
        and subprocess.run([str(python), "-c", f"import {module}"], capture_output=True).returncode == 0
    )
    if not there:
        assert os.environ.get("PROCEVAL_LAUNCHERS") != "required", f"{module} is not installed for {python}"
        pytest.skip(f"the extra of {request.param} is not installed: no {module} for {python}")
    return python, [f"hydra/launcher={request.param}", *words]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> list[bytes]:
    """The dataset of one run without shards."""
    home = tmp_path_factory.mktemp("whole")
    done = run(Path(sys.executable), home, *SHARDED)
    assert done.returncode == 0, done.stderr
    (folder,) = home.glob("outputs/[!.s]*")
    return [(folder / name).read_bytes() for name in FILES]


def test_two_shards_joined_give_the_bytes_of_one_run(launcher, whole, tmp_path):
    python, words = launcher
    done = run(python, tmp_path, "--multirun", *SHARDED, "shard.count=2", "shard.index=0,1", "workers=1", *words)
    assert done.returncode == 0, done.stderr
    assert "[2/2]" in done.stderr
    merged = run(python, tmp_path, "stage=merge", *SHARDED[1:], "shard.count=2")
    assert merged.returncode == 0, merged.stderr
    (folder,) = tmp_path.glob("outputs/[!.s]*")
    assert [(folder / name).read_bytes() for name in FILES] == whole


def test_a_sweep_evaluates_each_model_proves_once_and_tells_the_job_that_failed(launcher, tmp_path):
    python, words = launcher
    small = ("difficulty=easy", "domain=arrays", "count=1", "samples=2", "tracker=off", "figures=false", "workers=1")
    done = run(python, tmp_path, "--multirun", *small, "model=mock,opnai/gpt:x,gold", *words)
    assert done.returncode == 2, done.stderr
    (failed,) = [line for line in done.stderr.splitlines() if "[" in line and ": bad input after" in line]
    assert "did you mean 'openai'?" in failed
    (sweep,) = tmp_path.glob("outputs/sweeps/*")
    rows = pq.read_table(sweep / "multirun.parquet").to_pylist()
    overall = {row["model"]: row["accuracy"] for row in rows if row["axis"] == "overall"}
    assert overall["gold"] == 1.0
    assert set(overall) == {"mock", "gold"}
    states = [json.loads((job / "status.json").read_text())["state"] for job in sorted(sweep.glob("[0-9]*"))]
    assert states == ["fine", "bad input", "fine"]
    logs = "".join(path.read_text() for path in sweep.glob("[0-9]*/log.txt"))
    assert logs.count("taken over from") == 1


@pytest.mark.parametrize(("name", "extra"), [("ray", "ray"), ("slurm", "submitit")])
def test_a_launcher_that_is_not_installed_names_its_extra(tmp_path, name, extra):
    if find_spec(LAUNCHERS[name][1]) is not None:
        pytest.skip(f"the extra {extra} is installed here")  # it would submit jobs to a cluster that is not there
    done = run(Path(sys.executable), tmp_path, "--multirun", f"hydra/launcher={name}", "stage=doctor")
    assert done.returncode == 2
    assert f"pip install -e '.[{extra}]'" in done.stderr
