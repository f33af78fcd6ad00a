"""What the Audit page shows: mutants by operator and fate, one mutant beside its reference, and the ledger."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from proceval.audit.ledger import FOLDER, Book, Entry, books
from proceval.audit.template import template
from proceval.console import columns
from proceval.console.places import Place
from proceval.errors import InputError
from proceval.schema import Fate

TIERS = ("gate", "reported", "original")
FATES: tuple[Fate, ...] = get_args(Fate)


def table(place: Place) -> Any:
    """Every mutant of every audited problem, once a problem, with `folder` (index of their home)."""
    import pyarrow as pa

    found = []
    for number, folder in enumerate(place.folders):
        rows = columns.mutants(folder)
        found.append(rows.append_column("folder", pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows)))
    whole = pa.concat_tables(found, promote_options="permissive").unify_dictionaries().combine_chunks()
    if len(found) > 1:
        whole = _first_home(whole)
    if whole.num_rows and whole["family"].null_count == whole.num_rows:
        whole = _placed(whole, place)
    return whole


def _first_home(whole: Any) -> Any:
    """Jobs of a sweep carry copies of one audit: of each problem only the rows of the first folder stay."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = whole.set_column(0, "problem_id", whole["problem_id"].cast("string"))
    homes = plain.group_by("problem_id").aggregate([("folder", "min")])
    at = pc.index_in(plain["problem_id"], value_set=homes["problem_id"].combine_chunks())
    return whole.filter(pc.equal(whole["folder"], pc.take(homes["folder_min"].combine_chunks(), at).cast(pa.int32())))


def _placed(whole: Any, place: Place) -> Any:
    """Family and tier of each row by its problem, for audits that were read from their JSON Lines."""
    import pyarrow as pa
    import pyarrow.compute as pc

    families: dict[str, tuple[str | None, str | None]] = {}
    for folder in place.folders:
        known = columns.problems(folder)
        names = zip(*(known[name].to_pylist() for name in ("id", "family", "difficulty")), strict=True)
        families.update({one: (family, tier) for one, family, tier in names})
    distinct = pc.unique(whole["problem_id"].cast("string"))
    at = pc.index_in(whole["problem_id"].cast("string"), value_set=distinct)
    for number, name in enumerate(("family", "difficulty")):
        told = pa.array([families.get(one, (None, None))[number] for one in distinct.to_pylist()], pa.string())
        whole = whole.set_column(whole.schema.get_field_index(name), name, pc.take(told, at))
    return columns.compact(whole, ["family", "difficulty"])


def by_operator(found: Any) -> list[dict[str, Any]]:
    """One row an operator: its name, how many mutants of each fate, and all of them; the largest first."""
    counted: dict[str, dict[str, int]] = {}
    groups = found.select(["operator", "fate"]).group_by(["operator", "fate"]).aggregate([([], "count_all")])
    for operator, fate, count in zip(*(groups[n].to_pylist() for n in ("operator", "fate", "count_all")), strict=True):
        if operator is not None:
            counted.setdefault(operator, dict.fromkeys(FATES, 0))[fate] = count
    rows = [{"operator": name, **fates, "all": sum(fates.values())} for name, fates in counted.items()]
    return sorted(rows, key=lambda row: (-row["all"], row["operator"]))


def distinct(found: Any) -> list[dict[str, Any]]:
    """One row a mutant of a reference: where and what it edits, and in how many problems it had which fate."""
    names = ["mutant", "family", "operator", "line", "before", "after", "fate"]
    groups = found.select(names).group_by(names).aggregate([([], "count_all")])
    rows: dict[str, dict[str, Any]] = {}
    for one in groups.to_pylist():
        if one["mutant"] is None:
            continue
        row = rows.setdefault(one["mutant"], {n: one[n] for n in names[:-1]} | {"problems": 0, "fates": {}})
        row["problems"] += one["count_all"]
        row["fates"][one["fate"]] = one["count_all"]
    return sorted(rows.values(), key=lambda row: (row["family"] or "", row["line"], row["mutant"]))


def broken(found: Any) -> list[tuple[str, str]]:
    """(problem id, fault) of audits that broke."""
    import pyarrow.compute as pc

    bad = found.filter(pc.is_valid(found["fault"])).select(["problem_id", "fault"]).group_by(["problem_id", "fault"])
    return [(row["problem_id"], row["fault"]) for row in bad.aggregate([]).to_pylist()]


@dataclass(frozen=True)
class Pair:
    """A reference and one of its mutants, both in the layout of `ast.unparse`."""

    reference: str
    mutant: str


@lru_cache(maxsize=64)
def pair(reference: str, mutant: str) -> Pair:
    """The texts behind a mutant's id. Raises InputError when the reference has no such mutant any more."""
    made = template(reference, TIERS)
    for candidate in made.mutants:
        if candidate.id == mutant:
            return Pair(made.normal, candidate.text)
    raise InputError(f"mutant {mutant}: this proceval makes no such mutant of the reference; audit the dataset again")


def ledger() -> list[Book]:
    """All books of the ledger. Raises InputError for one that is broken."""
    return list(books())


def proof(entry: Entry) -> str | None:
    """The SMT-LIB script behind an entry, or None where its method needs none."""
    return (FOLDER / entry.script).read_text(encoding="utf-8") if entry.script else None
