"""An audited run of a few families without proofs, and what is made of it: shared by the tests of procedural cases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.audit.material import Collector
from proceval.folder import RunFolder
from proceval.protocols import Family
from tests.audit.conftest import FAMILIES
from tests.audit.test_gate import made

FEW: dict[str, Family] = {name: FAMILIES[name] for name in ("monotonic_split", "dag_reachability")}


def audited_run(path: Path, audit: Any, families: Mapping[str, Family] = FEW) -> RunFolder:
    """A folder with dataset.jsonl and material.jsonl, as stage=audit leaves it."""
    collector, problems = Collector(), []
    for family in families.values():
        for index, tier in enumerate(("easy", "hard")):
            problem = made(family, audit, tier, index)
            collector.add(problem, audit.audit(problem))
            problems.append(problem)
    path.mkdir(parents=True)
    files.write_records(path / "dataset.jsonl", problems)
    files.write_records(path / "material.jsonl", collector.records(audit))
    return run_folder(path / "out", str(path))


def run_folder(path: Path, dataset: str | None) -> RunFolder:
    path.mkdir(parents=True, exist_ok=True)
    return RunFolder(path=path, settings={}, inputs="x", outputs=path.parent, dataset=dataset)
