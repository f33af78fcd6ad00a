"""What a W&B run is told; runs inside the tracker's worker process and is the only code that imports wandb."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from proceval.tracker.wandb_curves import STEPS, curves

Section = Callable[[str], None]

TEXT = 2000
"""Characters of a completion that a table cell holds; the whole text is in records.jsonl."""

PROBLEM_COLUMNS = ("id", "domain", "family", "difficulty", "entry_point", "arguments", "expected")
SAMPLE_COLUMNS = (
    "model", "strategy", "mode", "arm", "problem_id", "domain", "family", "difficulty", "sample", "outcome", "fault",
    "passed", "extraction", "turns", "prompt_tokens", "completion_tokens", "cost_usd", "latency_s", "detail",
)  # fmt: skip


class Session:
    """The worker's handler: `("write", order)` opens a run and logs it, `("close", exit_status)` finishes it."""

    def __init__(self) -> None:
        self.run: Any = None

    def handle(self, message: tuple[str, Any], section: Section) -> None:
        what, payload = message
        if what == "write":
            self._write(payload, section)
        elif self.run is not None:
            section("finishing")
            import wandb

            run, self.run = self.run, None
            run.summary["exit_status"] = payload
            run.finish(exit_code=payload)
            wandb.teardown(exit_code=payload)

    def _write(self, order: dict[str, Any], section: Section) -> None:
        folder, summary = Path(order["folder"]), order["summary"]
        section("starting")
        self.run = start(order)
        section("logging metrics")
        log_metrics(self.run, summary)
        section("logging curves")
        log_history(self.run, folder, summary)
        section("logging tables")
        log_tables(self.run, folder, order["table_rows"])
        section("logging figures")
        log_charts(self.run, summary)
        log_images(self.run, folder)
        section("logging the dataset")
        log_dataset(self.run, folder, summary)


def start(order: Mapping[str, Any]) -> Any:
    """Open the run under the run folder; what W&B keeps for uploads lies there too, not in the user's home.

    Standard input is the null device from here on, so that a missing key is an error and never a prompt.
    """
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ["WANDB_SILENT"] = "true"  # the setting below does not reach what the login says
    os.environ["WANDB_DATA_DIR"] = os.environ["WANDB_CACHE_DIR"] = str(Path(order["folder"]) / "wandb" / "staging")
    import wandb

    settings = wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        disable_code=True,
        disable_job_creation=True,
        save_code=False,
        x_disable_meta=True,
        x_disable_stats=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
        init_timeout=0.8 * order["timeout_s"],
        finish_timeout=0.8 * order["timeout_s"],
    )
    return wandb.init(
        **order["init"], dir=order["folder"], config=order["config"], settings=settings, reinit="finish_previous"
    )


# ---------------------------------------------------------------------------------------------- metrics


def log_metrics(run: Any, summary: Mapping[str, Any]) -> None:
    """Summary metrics; what is undefined is left out, and never logged as zero or NaN."""
    run.define_metric("score/*", summary="last")
    run.summary.update({name: value for name, value in metrics(summary) if value is not None})
    run.config.update({f"setup_{part}": name for part, name in (summary.get("setup") or {}).items()})
    if summary.get("failure"):
        run.summary["failure"] = str(summary["failure"])[:TEXT]


def log_history(run: Any, folder: Path, summary: Mapping[str, Any]) -> None:
    """Curves over samples, tiers and k, each against its own axis."""
    for axis in dict.fromkeys(STEPS.values()):
        run.define_metric(axis, hidden=True)
    for glob, axis in STEPS.items():
        run.define_metric(glob, step_metric=axis)
    for row in curves((summary["scores"] or {"contestants": []})["contestants"], _rows(folder / "records.parquet")):
        run.log(row)


def metrics(summary: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Names and values of a run's summary metrics; with several contestants their names stand after `score/`."""
    if summary["problems"]:
        yield "problems/total", summary["problems"]["total"]
        yield from _counts("problems/tier", summary["problems"]["by_tier"])
    if summary["rejected"]:
        yield "rejected/total", summary["rejected"]["total"]
    if summary["proofs"]:
        yield "proofs/certificates", summary["proofs"]["certificates"]
        yield "proofs/queries", summary["proofs"]["queries"]
        yield "proofs/resource_count_max", summary["proofs"]["resource_count"]["max"]
    if summary["audit"]:
        for name in ("mutants", "accepted", "withheld", "faults", "score", "main_score"):
            yield f"audit/{name}", summary["audit"][name]
        yield from _counts("audit/fate", summary["audit"]["by_fate"])
    for contestant in (summary["scores"] or {"contestants": []})["contestants"]:
        prefix = f"score/{_prefix(summary, contestant)}"
        yield from _cell(prefix, contestant["overall"])
        yield from _counts(f"{prefix}outcome", contestant["overall"]["outcomes"])
        for axis in ("domain", "family", "tier"):
            for name, cell in contestant[f"by_{axis}"].items():
                yield from _cell(f"{prefix}{axis}/{name}/", cell)


def _cell(prefix: str, cell: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    low, high = cell["interval"] or (None, None)
    yield f"{prefix}pass@1", cell["accuracy"]
    yield f"{prefix}pass@1_low", low
    yield f"{prefix}pass@1_high", high
    for k, figure in cell["pass_at_k"].items():
        if k != "1":
            yield f"{prefix}pass@{k}", figure["value"]
    for name in ("samples", "scored", "problems", "prompts"):
        yield f"{prefix}{name}", cell[name]
    for name in ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s"):
        yield f"{prefix}{name}", cell[name]["total"]
    spent = (cell["prompt_tokens"]["total"], cell["completion_tokens"]["total"])
    yield f"{prefix}tokens_a_sample", None if None in spent or not cell["samples"] else sum(spent) / cell["samples"]
    dear = cell["cost_usd"]["total"]
    yield f"{prefix}usd_a_sample", None if dear is None or not cell["samples"] else dear / cell["samples"]


def _counts(prefix: str, found: Mapping[str, int]) -> Iterator[tuple[str, float | None]]:
    for name, count in found.items():
        yield f"{prefix}/{name}", count


def _prefix(summary: Mapping[str, Any], contestant: Mapping[str, Any]) -> str:
    return "" if len(summary["scores"]["contestants"]) == 1 else f"{contestant['name']}/"


# ---------------------------------------------------------------------------------------------- tables and charts


def log_tables(run: Any, folder: Path, most: int) -> None:
    """Problems, samples and failures from the Parquet files, at most `most` rows each; the cut is in the summary."""
    problems = _rows(folder / "dataset.parquet")
    samples = _rows(folder / "records.parquet")
    failed = [row for row in samples if row["outcome"] not in (None, "passed")]
    for row in failed:
        row["text"] = (row["responses"][-1]["text"] if row["responses"] else "")[:TEXT]
    tables = {
        "problems": (PROBLEM_COLUMNS, problems),
        "samples": (SAMPLE_COLUMNS, samples),
        "failures": ((*SAMPLE_COLUMNS, "text"), failed),
    }
    for name, (columns, rows) in tables.items():
        if rows:
            run.log({f"tables/{name}": _table(columns, rows[:most])})
        if len(rows) > most:
            run.summary[f"tables/{name}_rows_left_out"] = len(rows) - most


def _rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    return list(pq.read_table(path).to_pylist()) if path.is_file() else []


def _table(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> Any:
    """One type a column: a column without a single value is text, an unknown text is "" and an unknown number null."""
    import wandb

    numbers = {c for c in columns if any(isinstance(row[c], int | float) for row in rows)}
    data = [[row[c] if c in numbers else str(row[c] or "") for c in columns] for row in rows]
    return wandb.Table(columns=list(columns), data=data)


def log_charts(run: Any, summary: Mapping[str, Any]) -> None:
    """Native charts: accuracy by tier, outcomes, pass@k."""
    import wandb

    contestants = (summary["scores"] or {"contestants": []})["contestants"]
    several = len(contestants) > 1
    tiers, outcomes, curves = [], [], []
    for one in contestants:
        before = f"{one['name']} " if several else ""
        tiers += [[before + t, c["accuracy"]] for t, c in one["by_tier"].items() if c["accuracy"] is not None]
        outcomes += [[before + outcome, count] for outcome, count in one["overall"]["outcomes"].items()]
        curves += [[k, value, one["name"]] for k, value in one["pass_curve"]]
    if tiers:
        table = wandb.Table(columns=["tier", "pass@1"], data=tiers)
        run.log({"charts/accuracy_by_tier": wandb.plot.bar(table, "tier", "pass@1", title="Accuracy by tier")})
    if outcomes:
        table = wandb.Table(columns=["outcome", "samples"], data=outcomes)
        run.log({"charts/outcomes": wandb.plot.bar(table, "outcome", "samples", title="Outcomes")})
    if curves:
        table = wandb.Table(columns=["k", "pass@k", "model"], data=curves)
        line = wandb.plot.line(table, "k", "pass@k", stroke="model", title="Chance that one of k samples passes")
        run.log({"charts/pass_at_k": line})


def log_images(run: Any, folder: Path) -> None:
    import wandb

    pictures = sorted((folder / "figures").glob("*.png"))
    if pictures:
        run.log({f"figures/{path.stem}": wandb.Image(str(path)) for path in pictures})


def log_dataset(run: Any, folder: Path, summary: Mapping[str, Any]) -> None:
    """The dataset as an artifact named by its hash: runs on the same dataset share one version."""
    import wandb

    path = folder / "dataset.jsonl"
    if not path.is_file():
        return
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    problems = summary["problems"] or {}
    metadata = {"sha256": sha256, **{name: problems.get(name) for name in ("total", "by_family", "by_tier")}}
    artifact = wandb.Artifact(f"dataset-{sha256[:12]}", type="dataset", metadata=metadata)
    for name in ("dataset.jsonl", "dataset.parquet"):
        if (folder / name).is_file():
            artifact.add_file(str(folder / name), skip_cache=True, policy="immutable")
    run.log_artifact(artifact)
    run.summary["dataset/sha256"] = sha256
