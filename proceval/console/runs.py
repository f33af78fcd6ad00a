"""What the Runs page shows: scores, samples by page, one sample whole, and two contestants on one problem."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proceval import paired
from proceval.console import columns, lines, tally
from proceval.console.places import Place
from proceval.errors import InputError
from proceval.report.scores import PARTS
from proceval.schema import RequestFault, Response, Verdict

Plain = dict[str, Any]

MOST_PROMPTS = 2_000
"""Distinct prompts beyond which the exact tests of a comparison take longer than a page may."""
UNSUMMED = ("verdicts.jsonl",)


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict without its texts: as much of schema.Verdict as figures are made from."""

    model: str
    base_url: str | None
    arm: str
    strategy: str
    mode: str
    problem_id: str
    family: str
    domain: str
    difficulty: str
    prompt_sha256: str
    sample: int
    outcome: str
    fault: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_s: float | None
    detail: str = ""

    @property
    def scored(self) -> bool:
        return self.fault in ("none", "model")

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    def model_dump(self, *, include: Iterable[str]) -> Plain:
        """As pydantic's, for the one caller that makes a record of a place."""
        return {name: getattr(self, name) for name in include}


def table(place: Place) -> Any:
    """All judged samples of a place, with `folder` (index of their home); the arm tells variants of a sweep apart."""
    import pyarrow as pa

    found = []
    for number, (folder, variant) in enumerate(zip(place.folders, place.variants, strict=True)):
        rows = columns.verdicts(folder)
        if variant:
            arms = [variant if arm == "default" else f"{arm}, {variant}" for arm in rows["arm"].to_pylist()]
            rows = rows.set_column(rows.schema.get_field_index("arm"), "arm", pa.array(arms, pa.string()))
            rows = columns.compact(rows, ["arm"])
        found.append(rows.append_column("folder", pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows)))
    return pa.concat_tables(found, promote_options="permissive").unify_dictionaries().combine_chunks()


def rows(found: Any) -> list[Row]:
    """The samples as objects, for the report's own arithmetic."""
    names = [name for name in Row.__dataclass_fields__ if name != "detail"]
    read = [found[name].to_pylist() for name in names]
    return [Row(*one) for one in zip(*read, strict=True)]


def scores(place: Place, found: Any, ks: Sequence[int]) -> Plain | None:
    """The report's figures: read from summary.json where that is newer than the verdicts, else computed anew."""
    if not found.num_rows:
        return None
    said = _summed(place)
    if said is not None:
        return said
    return {"scores": tally.scores(found, ks), "guesses": None, "audit": None}


def _summed(place: Place) -> Plain | None:
    path = place.path / "summary.json"
    sources = [folder / name for folder in place.folders for name in UNSUMMED]
    if not path.is_file():
        return None
    made = path.stat().st_mtime_ns
    if any(source.is_file() and source.stat().st_mtime_ns > made for source in sources):
        return None
    found = lines.document(path)
    try:
        for one in found["scores"]["contestants"]:
            _ = [one[key] for key in ("name", "overall", "by_tier", "by_family", "pass_curve", *PARTS)]
    except (TypeError, KeyError):
        return None  # another version's: computed from the verdicts instead
    return dict(found)


def names(summary: Plain) -> list[str]:
    """Contestants in the order of the report."""
    return [one["name"] for one in summary["scores"]["contestants"]]


def of_contestant(found: Any, summary: Plain, name: str) -> Any:
    """The samples of one contestant."""
    import pyarrow.compute as pc

    one = next(c for c in summary["scores"]["contestants"] if c["name"] == name)
    for part in PARTS:
        column = found[part].cast("string")
        value = one[part]
        found = found.filter(pc.is_null(column) if value is None else pc.equal(column, value))
    return found


def matrix(summary: Plain, axis: str) -> list[Plain]:
    """Outcomes as shares: contestant, group, outcome, samples, share; `axis` is tier, family or domain."""
    from proceval.report.scores import outcome_owner

    cells = [
        (one["name"], group, cell)
        for one in summary["scores"]["contestants"]
        for group, cell in one[f"by_{axis}"].items()
    ]
    present = [outcome for outcome in outcome_owner() if any(outcome in cell["outcomes"] for _, _, cell in cells)]
    return [
        {
            "contestant": name, "group": group, "outcome": outcome, "samples": cell["outcomes"].get(outcome, 0),
            "share": cell["outcomes"].get(outcome, 0) / cell["samples"],
        }
        for name, group, cell in cells
        for outcome in present
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------ one sample


@dataclass(frozen=True)
class Key:
    """What makes a sample one sample; the arm as the records say it, before a sweep's variant."""

    problem_id: str
    model: str
    base_url: str | None
    arm: str
    strategy: str
    mode: str
    sample: int

    def fits(self, record: Verdict | Response) -> bool:
        return all(getattr(record, name) == getattr(self, name) for name in self.__dataclass_fields__)


@dataclass(frozen=True)
class Sample:
    """One sample with everything on record about it."""

    verdict: Verdict
    turns: tuple[Response, ...]
    faults: tuple[RequestFault, ...]


def key(row: Mapping[str, Any], variant: str) -> Key:
    """The key of a row of `table`."""
    arm = row["arm"]
    if variant:
        arm = "default" if arm == variant else arm.removesuffix(f", {variant}")
    return Key(arm=arm, **{name: row[name] for name in Key.__dataclass_fields__ if name != "arm"})


def sample(place: Place, number: int, wanted: Key) -> Sample:
    """A sample's verdict, its turns in order, and requests that failed for good. Raises InputError when it is gone."""
    folder = place.folders[number]
    if (folder / "verdicts.jsonl").is_file():
        judged = [v for v in lines.records(folder / "verdicts.jsonl", Verdict, wanted.problem_id) if wanted.fits(v)]
        if not judged:
            raise InputError(f"{folder / 'verdicts.jsonl'}: no verdict on this sample any more; choose another one")
        turns: dict[int, Response] = {}
        for response in lines.records(folder / "records.jsonl", Response, wanted.problem_id):
            if wanted.fits(response):
                turns.setdefault(response.turn, response)
        verdict = judged[-1]
    else:
        verdict, turns = _from_parquet(folder, wanted)
    failed = [
        fault
        for fault in lines.records(folder / "faults.jsonl", RequestFault, wanted.problem_id)
        if (fault.sample, fault.model, fault.arm) == (wanted.sample, wanted.model, wanted.arm)
    ]
    return Sample(verdict, tuple(turns[turn] for turn in sorted(turns)), tuple(failed))


def _from_parquet(folder: Any, wanted: Key) -> tuple[Verdict, dict[int, Response]]:
    """The same from records.parquet alone, which does not hold the prompts."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pydantic import ValidationError

    path = folder / "records.parquet"
    try:
        filters = [("problem_id", "=", wanted.problem_id), ("sample", "=", wanted.sample)]
        found = [
            row
            for row in pq.read_table(path, filters=filters).to_pylist()
            if all(row[name] == getattr(wanted, name) for name in wanted.__dataclass_fields__)
        ]
        row = found[-1]
        verdict = Verdict.model_validate({name: row[name] for name in Verdict.model_fields if name in row})
        turns = {one["turn"]: _response(row, one) for one in row["responses"]}
    except (pa.ArrowException, OSError, KeyError, IndexError, TypeError, ValueError, ValidationError) as error:
        raise InputError(f"{path}: this sample cannot be read ({' '.join(str(error).split())[:200]})") from error
    return verdict, turns


def _response(row: Plain, one: Plain) -> Response:
    head = {name: row[name] for name in Response.model_fields if name in row}
    completion = {name: one[name] for name in (
        "text", "finish_reason", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cost_usd", "latency_s",
    )}  # fmt: skip
    return Response.model_validate({
        **head, "key": one["key"], "turn": one["turn"], "messages": [], "completion": completion,
        "attempts": one["attempts"], "parameters": json.loads(one["parameters"] or "{}"),
    })  # fmt: skip


# ------------------------------------------------------------------------------------------ two of them


def compared(first: list[Row], second: list[Row]) -> list[str]:
    """The paired comparison of two contestants in sentences; of very many prompts only what can be said at once."""
    ours, theirs = (f"{n}" for n in ("A", "B"))
    try:
        if len({row.prompt_sha256 for row in first}) > MOST_PROMPTS:
            return _at_a_glance(first, second)
        found = paired.compare(first, second)  # type: ignore[arg-type]
    except ValueError as error:
        raise InputError(f"these cannot be paired: {error}") from error
    return paired.sentences(found, first=ours, second=theirs)


def _at_a_glance(first: list[Row], second: list[Row]) -> list[str]:
    """Pairs and difference with the clustered interval of the differences, without the exact tests."""
    from proceval.statistics import clustered_interval

    left, right = ({(r.problem_id, r.sample): r for r in side if r.scored} for side in (first, second))
    shared = sorted(set(left) & set(right))
    paired.check_modes(left.values(), right.values())  # type: ignore[arg-type]
    if not shared:
        return ["A and B share no scored sample: nothing to compare"]
    task_of = paired.tasks([(left[one].prompt_sha256, right[one].prompt_sha256) for one in shared])
    clusters: dict[str, list[float]] = {}
    for one in shared:
        step = right[one].passed - left[one].passed
        clusters.setdefault(task_of[left[one].prompt_sha256], []).append((step + 1) / 2)
    found = clustered_interval(list(clusters.values()))
    ours, theirs = (sum(side[one].passed for one in shared) / len(shared) for side in (left, right))
    interval = (
        ""
        if found is None or found.low is None or found.high is None or len(clusters) < paired.FEWEST
        else f" [{2 * found.low - 1:+.1%}, {2 * found.high - 1:+.1%}]"
    )
    return [
        f"{len(shared)} pairs of samples, {len({p for p, _ in shared})} problems, {len(clusters)} distinct prompts",
        f"A {ours:.1%}, B {theirs:.1%}, difference {theirs - ours:+.1%}{interval}",
        "so many prompts make the exact tests slow: python -m proceval stage=report compare=[A,B] carries them out",
    ]


def shared_problems(first: Any, second: Any, *, differing: bool) -> list[str]:
    """Ids of problems that both have samples of; `differing`: only those on which their first samples disagree."""

    def firsts(found: Any) -> dict[str, bool]:
        made: dict[str, tuple[int, bool]] = {}
        names = ("problem_id", "sample", "outcome")
        for one, number, outcome in zip(*(found[n].to_pylist() for n in names), strict=True):
            if one not in made or number < made[one][0]:
                made[one] = (number, outcome == "passed")
        return {one: passed for one, (_, passed) in made.items()}

    left, right = firsts(first), firsts(second)
    return [one for one in left if one in right and (not differing or left[one] != right[one])]
