"""README.md of a release: the dataset card, generated from the manifest and never written by hand."""

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from proceval.release.manifest import table
from proceval.release.rows import COLUMNS, JSON, card_features

_TEXT = Template((Path(__file__).parent / "card.md").read_text(encoding="utf-8"))
_MEANS = {
    "id": "hash of family, version, arguments, statement, entry point and expected value: changed content has another id",
    "family": "kind of problem",
    "family_version": "raised when the meaning of an instance or a byte of the statement changes",
    "domain": "arrays, graphs, automata, ...",
    "difficulty": "tier",
    "statement": "the task in words, the same for all problems of a family",
    "entry_point": "name of the function to write",
    "parameters": "its parameters, in order",
    "arguments": "the main instance",
    "expected": "its proved answer",
    "reference": "a solution that passes all tests",
    "examples": "public tests, shown in the prompt",
    "tests": "hidden tests, the main instance first",
    "prompt_code": "asks for a program",
    "prompt_answer": "asks for the answer to the main instance",
    "evidence": "one proof for each test and example: solver, queries by hash, verdicts, work, oracle, second opinions",
    "audit": "what became of the reference's mutants under these tests; null where it was not measured",
    "canary": "the canary string",
}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(found: Mapping[str, Any], *, title: str, repo_id: str | None, split: str, parquet: str) -> str:
    """The card of a release with this manifest: YAML header for the Hub, then what a reader wants to know."""
    generation = found["generation"]
    settings = generation["settings"]
    mutants = {fate: count for fate, count in found["audit"]["mutants"].items() if count}
    total = sum(mutants.values())
    told = ", ".join(f"{count} {fate}" for fate, count in mutants.items())
    without = found["audit"]["problems_without"]
    measured = f"Mutants in this set: {total} ({told})." if total else "They were not measured for this set."
    if total and without:
        measured += f" {without} problems were not measured."
    text = _TEXT.substitute(
        title=title,
        problems=found["problems"],
        canary=found["canary"],
        repo_id=repo_id or "PATH",
        split=split,
        rows=found["rows"],
        distribution=_distribution(found),
        columns=table(
            ("column", "type", "holds"), [(f"`{n}`", _type(k), _MEANS.get(n, "")) for n, k in COLUMNS.items()]
        ),
        evidence=_evidence(found),
        generation=table(
            ("what", "value"),
            [
                ("seed", f"`{settings['seed']!r}`"),
                ("count a family and tier", settings["count"]),
                ("proceval", generation["versions"].get("proceval", "unknown")),
                ("git commit", generation["git_commit"] or "unknown"),
                ("Python", generation["versions"].get("python", "unknown")),
                (
                    "solvers",
                    ", ".join(f"{n} {v}" for n, v in (generation["versions"].get("solvers") or {}).items() if v),
                ),
                ("families", ", ".join(f"{name} {facts['version']}" for name, facts in found["families"].items())),
                ("dataset SHA-256", f"`{found['dataset_sha256']}`"),
                ("all settings", "`manifest.json`, `generation.settings`"),
            ],
        ),
        rejected=table(("reason", "candidates"), generation["rejected"].items() or [("none", 0)]),
        floors=_floors(generation["guess_floor"]),
        audit=measured,
        version=generation["versions"].get("proceval", "unknown"),
        dataset_sha256=found["dataset_sha256"],
        cite_key="proceval_" + found["dataset_sha256"][:8],
    )
    return f"---\n{_header(found, title=title, split=split, parquet=parquet)}---\n\n{text}"


def _header(found: Mapping[str, Any], *, title: str, split: str, parquet: str) -> str:
    import yaml

    size = next((name for limit, name in SIZES if found["problems"] < limit), "n>1M")
    body = {
        "license": "mit",
        "language": ["en"],
        "pretty_name": title,
        "task_categories": ["text-generation"],
        "size_categories": [size],
        "tags": ["benchmark", "code", "reasoning", "synthetic", "formal-verification", "smt", "proceval"],
        "configs": [{"config_name": "default", "data_files": [{"split": split, "path": parquet}]}],
        "dataset_info": {"config_name": "default", "features": card_features(COLUMNS)},
    }
    return str(yaml.safe_dump(body, sort_keys=False, allow_unicode=True))


def _type(kind: Any) -> str:
    if isinstance(kind, dict):
        return "struct"
    if isinstance(kind, list):
        return f"list of {_type(kind[0])}"
    return "JSON text" if kind == JSON else str(kind)


def _distribution(found: Mapping[str, Any]) -> str:
    tiers = [
        tier for tier in found["generation"]["settings"]["difficulty"] if tier in found["distribution"]["difficulty"]
    ]
    counts = {(c["domain"], c["family"], c["difficulty"]): c["problems"] for c in found["distribution"]["cells"]}
    lines = [
        (domain, family, *(counts.get((domain, family, tier), 0) for tier in tiers))
        for domain, family in sorted({key[:2] for key in counts})
    ]
    return table(("domain", "family", *tiers), lines)


def _evidence(found: Mapping[str, Any]) -> str:
    tests, evidence = found["tests"], found["evidence"]
    lines = [("tests", ", ".join(f"{count} {origin}" for origin, count in tests.items()))]
    lines += [
        (name, ", ".join(f"{n} {what}" for what, n in counts.items())) for name, counts in evidence.items() if counts
    ]
    return table(("", "count"), lines)


def _floors(floors: list[Mapping[str, Any]]) -> str:
    def share(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.1f}%"

    lines = [
        (
            floor["family"],
            floor["difficulty"],
            floor["problems"],
            f"`{floor['commonest_answer']}`"[:40],
            share(floor["commonest_share"]),
            floor["best_shortcut"] or "-",
            share(floor["shortcut_share"]),
        )
        for floor in floors
    ]
    return table(("family", "tier", "problems", "commonest answer", "share", "best shortcut", "share"), lines)
