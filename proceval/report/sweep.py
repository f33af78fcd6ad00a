"""All jobs of a sweep as one run: one summary, one Parquet file, one set of figures, the failed jobs among them.

A sweep's folder holds a folder for each job, named `NUMBER-OVERRIDES`; a job leaves its exit status in status.json.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from proceval.errors import STATES, InputError
from proceval.report import markdown, plots, summary
from proceval.report.evidence import Plain
from proceval.report.parquet import Row, columns, encode, list_of
from proceval.report.run import READ, Run, first_of_each, replace, sample_key
from proceval.schema import SCHEMA_VERSION, AuditReport, Certificate, Problem, Rejection, Response, Verdict

S = TypeVar("S", Verdict, Response)

SHOWN = frozenset({"model", "strategy", "domain", "difficulty", "track", "stage", "experiment", "tracker", "workers"})
"""Overrides that the records themselves tell, or that change no result; any other one tells two jobs' models apart."""


@dataclass(frozen=True)
class Job:
    """One job's folder and how it ended; `status` is None when it left no exit status."""

    path: Path
    status: int | None
    label: str
    """Number and overrides that tell it from the other jobs, for people."""
    variant: str
    """Overrides that tell it from others and that the records do not show, such as `model.temperature=0.7`, or ""."""
    state: str
    """What its status is called; `raised` for an error that nobody expected, `died` without a status."""
    reason: str | None
    """The sentence it ended with, or None."""


@dataclass(frozen=True)
class Jobs(Run):
    """The records of many jobs as one run: a problem, proof or audit that jobs share counts once."""

    jobs: tuple[Job, ...]

    def runs(self) -> list[Run]:
        return [Run(job.path) for job in self.jobs]

    def distinct(self) -> list[Run]:
        """One run of each dataset."""
        by_content: dict[str, Run] = {}
        for run in self.runs():
            file = run.path / "dataset.jsonl"
            if file.is_file():
                with file.open("rb") as content:
                    by_content.setdefault(hashlib.file_digest(content, "sha256").hexdigest(), run)
        return list(by_content.values())

    def missing(self) -> list[str]:
        lacking = [set(run.missing()) for run in self.runs()]
        return [name for name in READ if all(name in one for one in lacking)]

    def problems(self) -> list[Problem]:
        return list({p.id: p for run in self.distinct() for p in run.problems()}.values())

    def certificates(self) -> Iterator[Certificate]:
        every = chain.from_iterable(run.certificates() for run in self.distinct())
        return first_of_each(every, lambda c: (c.problem_id, c.test))

    def rejections(self) -> Iterator[Rejection]:
        return chain.from_iterable(run.rejections() for run in self.distinct())

    def audits(self) -> Iterator[AuditReport]:
        every = chain.from_iterable(run.audits() for run in self.runs())
        return first_of_each(every, lambda a: (a.problem_id, a.audit))

    def responses(self) -> list[Response]:
        every = (_arm(response, job) for job in self.jobs for response in Run(job.path).responses())
        return list({(*sample_key(r), str(r.turn)): r for r in every}.values())

    def verdicts(self) -> list[Verdict]:
        every = (_arm(verdict, job) for job in self.jobs for verdict in Run(job.path).verdicts())
        return list({sample_key(v): v for v in every}.values())

    def document(self, name: str) -> Any:
        """generation.json of all datasets together; any other document is no one job's to give."""
        facts = [fact for run in self.distinct() if isinstance(fact := run.document(name), dict)]
        if name != "generation.json" or not facts:
            return None
        return {
            "candidates": sum(fact.get("candidates") or 0 for fact in facts),
            "shortfalls": [short for fact in facts for short in fact.get("shortfalls") or []],
            "machine_dependent": any(fact.get("machine_dependent") for fact in facts),
        }


def aggregate(sweep: Path, *, ks: Sequence[int]) -> Plain:
    """Summarise a sweep into summary.json, multirun.parquet, figures/ and report.md of its folder; returns the summary.

    Its exit status is the worst of the jobs', 1 for one that died. A job whose records cannot be read is shown with the
    reason and left out of the figures. Raises InputError for a folder without a job.
    """
    sweep = Path(sweep)
    jobs = find(sweep)
    if not jobs:
        raise InputError(f"{sweep}: no job of a sweep lies here; give the folder that holds 0-..., 1-..., ...")
    rows: list[Plain] = []
    readable = []
    for job in jobs:
        own, fault = _own(job, ks)
        rows.append(_job(job, own, fault))
        if own is not None:
            readable.append(job)
    together = Jobs(sweep, tuple(readable))
    found: Plain = {
        "schema_version": SCHEMA_VERSION,
        "exit_status": max(1 if job.status is None else job.status for job in jobs),
        **_origin(jobs),
        "jobs": rows,
        **summary.summarise(together, ks),
    }
    text = json.dumps(found, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    replace(sweep / "summary.json", text.encode("ascii"))
    replace(sweep / "multirun.parquet", encode(parquet_rows(rows), parquet_schema()))
    plots.draw_run(together, found)
    markdown.write(sweep, found)
    return found


def find(sweep: Path) -> list[Job]:
    """The jobs of a sweep by number."""
    folders = [path for path in sweep.iterdir() if path.is_dir() and path.name.partition("-")[0].isdigit()]
    folders.sort(key=lambda path: int(path.name.partition("-")[0]))
    ends = [_end(path / "status.json") for path in folders]
    overrides = [_overrides(path.name, end.get("overrides")) for path, end in zip(folders, ends, strict=True)]
    jobs = []
    for path, mine, end in zip(folders, overrides, ends, strict=True):
        telling = [key for key in mine if any(other.get(key) != mine[key] for other in overrides)]
        label = " ".join([path.name.partition("-")[0], *(f"{key}={mine[key]}" for key in telling)])
        variant = ", ".join(f"{key}={mine[key]}" for key in telling if key not in SHOWN)
        status = end.get("exit_status")
        state = "died" if status is None else end.get("state") or STATES.get(status, f"status {status}")
        jobs.append(Job(path, status, label, variant, str(state), end.get("reason") or None))
    return jobs


def _overrides(name: str, said: Any) -> dict[str, str]:
    """The overrides that a job's status lists, else those in its folder's name, where odd signs are replaced."""
    words = said if isinstance(said, list) else name.partition("-")[2].split(",")
    pairs = (str(word).partition("=") for word in words)
    return {key: value for key, sign, value in pairs if sign}


def _end(path: Path) -> Plain:
    """A job's status.json, or nothing where it left none that can be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return found if isinstance(found.get("exit_status"), int) else {"overrides": found.get("overrides")}


def _arm(record: S, job: Job) -> S:
    if not job.variant:
        return record
    return record.model_copy(update={"arm": job.variant if record.arm == "default" else f"{record.arm}, {job.variant}"})


def _own(job: Job, ks: Sequence[int]) -> tuple[Plain | None, str | None]:
    try:
        return summary.summarise(Run(job.path), ks), None
    except InputError as error:
        return None, str(error).replace(f"{job.path}/", "")


def _job(job: Job, own: Plain | None, fault: str | None) -> Plain:
    """One job's row: how it ended, and its contestants with all their cells."""
    problems, scores = (own or {}).get("problems"), (own or {}).get("scores")
    return {
        "job": job.label,
        "folder": job.path.name,
        "state": "unreadable" if fault else job.state,
        "exit_status": job.status,
        "fault": fault or job.reason,
        "problems": problems and problems["total"],
        "contestants": scores["contestants"] if scores else [],
    }


def _origin(jobs: Sequence[Job]) -> Plain:
    """Versions, commit and parts where all jobs that say so agree; what differs is in the jobs' own labels."""
    said = [found for job in jobs if isinstance(found := Run(job.path).document("summary.json"), dict)]
    commits = {found.get("git_commit") for found in said}
    versions = {json.dumps(found.get("versions"), sort_keys=True) for found in said}
    setups = [found.get("setup") or {} for found in said] or [{}]
    return {
        "git_commit": commits.pop() if len(commits) == 1 else None,
        "versions": (json.loads(versions.pop()) or {}) if len(versions) == 1 else {},
        "setup": {key: value for key, value in setups[0].items() if all(one.get(key) == value for one in setups)},
    }


# ---------------------------------------------------------------------------------------------- multirun.parquet


def parquet_schema() -> Any:
    """One row per job, contestant and cell; a job that judged nothing keeps one row whose figures are null.

    `axis` is overall, domain, family or tier, and `value` which one.
    """
    import pyarrow as pa

    text, count, real = pa.string(), pa.int64(), pa.float64()
    passes = pa.struct([("k", pa.int32()), ("value", real)])
    return columns(
        job=text, folder=text, state=text, exit_status=pa.int32(), fault=text, problems=count, contestant=text,
        model=text, strategy=text, mode=text, arm=text, base_url=text, axis=text, value=text, samples=count, scored=count,
        passed=count, accuracy=real, low=real, high=real, pass_at_k=list_of(passes), prompt_tokens=count,
        completion_tokens=count, cost_usd=real, latency_s=real,
    )  # fmt: skip


def parquet_rows(jobs: Sequence[Plain]) -> Iterator[Row]:
    for job in jobs:
        head = {name: job[name] for name in ("job", "folder", "state", "exit_status", "fault", "problems")}
        if not job["contestants"]:
            yield head
        for one in job["contestants"]:
            who = {name: one[name] for name in ("model", "strategy", "mode", "arm", "base_url")}
            who["contestant"] = one["name"]
            yield head | who | {"axis": "overall"} | _cell(one["overall"])
            for axis in ("domain", "family", "tier"):
                for value, cell in one[f"by_{axis}"].items():
                    yield head | who | {"axis": axis, "value": value} | _cell(cell)


def _cell(cell: Plain) -> Row:
    low, high = cell["interval"] or (None, None)
    totals = {name: cell[name]["total"] for name in ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s")}
    counted = {name: cell[name] for name in ("samples", "scored", "passed", "accuracy")}
    passes = [{"k": int(k), "value": figure["value"]} for k, figure in cell["pass_at_k"].items()]
    return {**counted, "low": low, "high": high, "pass_at_k": passes, **totals}
