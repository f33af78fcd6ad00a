"""The ready-made workspace: what would be sent names metrics that runs really log; without its extra it says which."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proceval.report import parquet, summary
from proceval.tracker.wandb_curves import curves
from proceval.tracker.wandb_run import metrics
from scripts import wandb_workspace
from tests.report import builder


def keys(node: Any) -> set[str]:
    """Every text in a tree of lists and objects."""
    if isinstance(node, dict):
        return set().union(*map(keys, node.values())) if node else set()
    if isinstance(node, list):
        return set().union(*map(keys, node)) if node else set()
    return {node} if isinstance(node, str) else set()


def logged(folder: Path) -> set[str]:
    """Names of all metrics of a run of one model."""
    import pyarrow.parquet as pq

    builder.build(folder)
    priced = [v.model_copy(update={"cost_usd": 0.1}) for v in builder.verdicts() if v.model == "mock" and v.turns]
    known = [v.model_copy(update={"prompt_tokens": 5, "completion_tokens": 5}) for v in priced]
    builder.write_lines(folder / "verdicts.jsonl", known)
    builder.write_lines(folder / "records.jsonl", [r for r in builder.responses() if r.model == "mock"])
    parquet.write(folder)
    found = summary.write(folder, exit_status=0, versions={}, git_commit=None, ks=[1])
    rows = pq.read_table(folder / "records.parquet").to_pylist()
    curved = {name for row in curves(found["scores"]["contestants"], rows) for name in row}
    return curved | {name for name, value in metrics(found) if value is not None}


def test_panels_name_what_runs_log(tmp_path: Path) -> None:
    pytest.importorskip("wandb_workspaces", reason="the extra workspaces is not installed")
    sent = wandb_workspace.spec(wandb_workspace.build("me", "proceval", "compare"))
    assert (sent["entity"], sent["project"], sent["displayName"]) == ("me", "proceval", "compare")
    sections = {one["name"]: one["panels"] for one in sent["spec"]["section"]["panelBankConfig"]["sections"]}
    assert {"Models by tiers", "Frontier", "Failures"} <= set(sections)
    assert all(sections.values())
    names = {key.removeprefix("summary_metrics.").removeprefix("summary:") for key in keys(sections)}
    asked = {
        name
        for name in names
        if name.split("/")[0] in ("score", "accuracy", "spent", "tier", "curve", "audit", "proofs")
    }
    optional = {f"score/tier/{tier}/pass@1" for tier in wandb_workspace.TIERS}
    optional |= {f"score/outcome/{outcome}" for outcome in wandb_workspace.FAILURES}
    optional |= {f"score/family/{family}/pass@1" for family in wandb_workspace.FAMILIES}
    assert asked - logged(tmp_path) <= optional
    assert {"score/pass@1", "score/tokens_a_sample", "accuracy/so_far", "tier/pass@1"} <= asked & logged(tmp_path)
    json.dumps(sent)


def test_outcomes_and_families_are_those_of_the_project() -> None:
    from typing import get_args

    from proceval.conftree import config_dir
    from proceval.schema import Outcome

    assert set(wandb_workspace.FAILURES) < set(get_args(Outcome))
    text = "".join(path.read_text(encoding="utf-8") for path in (config_dir() / "domain").glob("*.yaml"))
    assert all(f"{family}:" in text for family in wandb_workspace.FAMILIES)
    assert {path.stem for path in (config_dir() / "difficulty").glob("*.yaml")} == set(wandb_workspace.TIERS)


def test_without_its_extra_it_says_which(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "wandb_workspaces", None)
    monkeypatch.setattr(sys, "argv", ["wandb_workspace.py", "--entity", "me", "--show"])
    assert wandb_workspace.main() == 2
    assert "pip install -e '.[workspaces]'" in capsys.readouterr().err
