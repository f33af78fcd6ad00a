"""What a release is made from: a run folder whose dataset, evidence and configuration belong together."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proceval import folder as files
from proceval.errors import Finding, InputError
from proceval.schema import AuditReport, Certificate, Problem

KEYS = ("domain", "difficulty", "prover", "audit", "seed", "count")
"""Keys of config.yaml that a dataset's bytes follow from; all of them are published."""


@dataclass(frozen=True)
class Source:
    """A generated, untouched run folder."""

    path: Path
    settings: dict[str, Any]
    """The keys its dataset follows from."""
    facts: dict[str, Any]
    """generation.json."""
    versions: dict[str, Any]
    git_commit: str | None

    def items(self) -> Iterator[tuple[Problem, list[Certificate], AuditReport | None]]:
        """Every problem with its certificates and, where the folder was audited, its audit; one at a time, in order.

        Raises Finding where evidence is missing.
        """
        certificates = _Groups(files.certificates(self.path))
        audited = (self.path / "audit.jsonl").is_file()
        audits = _Groups(files.audits(self.path)) if audited else None
        for problem in files.read(self.path / "dataset.jsonl", Problem):
            proofs = certificates.of(problem.id)
            if not proofs:
                raise Finding(f"{problem.id} has no certificate; stage=verify dataset={self.path} names what differs")
            reports = audits.of(problem.id) if audits else []
            if audits and not reports:
                raise Finding(f"{problem.id} has no audit in {self.path / 'audit.jsonl'}; run stage=audit again")
            yield problem, proofs, reports[0] if reports else None


def source(path: Path, settings: dict[str, Any] | None = None) -> Source:
    """The run folder at `path`. `settings` are those of the run itself; by default its config.yaml is read.

    Raises InputError for a folder that does not say what its dataset was made from, Finding for a changed dataset.
    """
    import yaml

    config = path / "config.yaml"
    if not (path / "generation.json").is_file():
        raise InputError(f"{path / 'generation.json'}: no such file; a release is made from a generated run folder")
    try:
        stored = yaml.safe_load(config.read_text(encoding="utf-8"))
        found = {key: stored[key] for key in KEYS}
        derived = stored["dataset"]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise InputError(
            f"{config}: not a run's configuration ({error}); a release says what it was made from"
        ) from error
    if derived is not None and Path(derived).resolve() != path.resolve():
        raise InputError(f"{path} reads its problems from {derived}; give dataset={derived}, which they were made in")
    if not files.untouched(path):
        raise Finding(
            f"{path / 'dataset.jsonl'} is not what was generated; stage=verify dataset={path} names what differs"
        )
    return Source(path, found, files.facts(path), stored.get("versions") or {}, stored.get("git_commit"))


class _Groups:
    """Records in runs of one problem id, in dataset order; holds one run at a time."""

    def __init__(self, records: Iterator[Any]) -> None:
        self._records = records
        self._next: Any = next(records, None)

    def of(self, problem_id: str) -> list[Any]:
        """The run of this problem; runs before it, of problems that the dataset does not hold, are passed over."""
        while self._next is not None and self._next.problem_id != problem_id:
            self._next = next(self._records, None)
        found = []
        while self._next is not None and self._next.problem_id == problem_id:
            found.append(self._next)
            self._next = next(self._records, None)
        return found
