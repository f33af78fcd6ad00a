"""Build a W&B workspace that compares published runs: models by tiers, the frontier, failures, how each run was made.

    python scripts/wandb_workspace.py --entity ME                 saves it in the project and prints its address
    python scripts/wandb_workspace.py --entity ME --show          prints what would be sent, and sends nothing

Needs the extra `workspaces` (pip install -e '.[workspaces]'); saving needs `wandb login` and runs that were published.
"""

import argparse
import json
import sys
from typing import Any

TIERS = ("easy", "medium", "hard", "extreme", "frontier")
FAILURES = (
    "wrong_answer", "runtime_error", "timeout", "resource_limit", "no_code", "unreadable", "refused", "truncated",
    "provider_fault", "sandbox_fault",
)  # fmt: skip
FAMILIES = (
    "equilibrium_index", "monotonic_split", "dag_reachability", "dag_shortest_path", "dag_topological_position",
    "dfa_string_acceptance", "dfa_product_reachability",
)  # fmt: skip
LEGEND = "${run:displayName}"


def build(entity: str, project: str, name: str) -> Any:
    """The workspace as an object; nothing is sent. Metric names are those that tracker=wandb logs."""
    import wandb_workspaces.expr as expr
    import wandb_workspaces.workspaces as workspaces

    return workspaces.Workspace(
        entity=entity,
        project=project,
        name=name,
        sections=_sections(),
        settings=workspaces.WorkspaceSettings(max_runs=50, tooltip_number_of_runs="all_runs"),
        runset_settings=workspaces.RunsetSettings(
            groupby=[expr.Config("setup_model")],
            order=[expr.Ordering(expr.Summary("score/pass@1"), ascending=False)],
        ),
    )


def _sections() -> list[Any]:
    """Models by tiers and the frontier, then what stands beside the scores."""
    import wandb_workspaces.reports.v2 as reports
    import wandb_workspaces.workspaces as workspaces

    def summary(metric: str) -> Any:
        return reports.SummaryMetric(metric)

    def line(title: str, x: str, *y: str) -> Any:
        return reports.LinePlot(title=title, x=reports.Metric(x), y=[reports.Metric(one) for one in y])

    def dots(title: str, x: str) -> Any:
        accuracy = summary("score/pass@1")
        return reports.ScatterPlot(title=title, x=summary(x), y=accuracy, legend_template=LEGEND, log_x=True)

    return [
        workspaces.Section(
            name="Models by tiers",
            is_open=True,
            panels=[
                _bars("pass@1", "score/pass@1"),
                _bars("95% interval of pass@1", "score/pass@1_low", "score/pass@1_high"),
                *(_bars(f"pass@1, {tier}", f"score/tier/{tier}/pass@1") for tier in TIERS),
                line("pass@1 by tier", "tier/number", "tier/pass@1"),
                line("Chance that one of k samples passes", "curve/k", "curve/pass@k"),
                reports.ParallelCoordinatesPlot(
                    title="Model, tiers, all",
                    columns=[
                        reports.ParallelCoordinatesPlotColumn(reports.Config("setup_model"), display_name="model"),
                        *(
                            reports.ParallelCoordinatesPlotColumn(
                                summary(f"score/tier/{tier}/pass@1"), display_name=tier
                            )
                            for tier in TIERS
                        ),
                        reports.ParallelCoordinatesPlotColumn(summary("score/pass@1"), display_name="all"),
                    ],
                ),
            ],
        ),
        workspaces.Section(
            name="Frontier",
            is_open=True,
            panels=[
                dots("pass@1 against tokens a sample", "score/tokens_a_sample"),
                dots("pass@1 against US dollars a sample", "score/usd_a_sample"),
                line("Accuracy so far", "accuracy/samples", "accuracy/so_far"),
                line("Tokens so far", "accuracy/samples", "spent/tokens"),
            ],
        ),
        *_beside_scores(),
    ]


def _beside_scores() -> list[Any]:
    """Failures, families, evidence."""
    import wandb_workspaces.reports.v2 as reports
    import wandb_workspaces.workspaces as workspaces

    return [
        workspaces.Section(
            name="Failures",
            is_open=True,
            panels=[
                *(_bars(outcome.replace("_", " "), f"score/outcome/{outcome}") for outcome in FAILURES),
                reports.WeavePanelSummaryTable(table_name="tables/failures"),
            ],
        ),
        workspaces.Section(
            name="Families",
            panels=[_bars(family, f"score/family/{family}/pass@1") for family in FAMILIES],
        ),
        workspaces.Section(
            name="Evidence",
            panels=[
                _bars("Problems", "problems/total"),
                _bars("Proved queries", "proofs/queries"),
                _bars("Share of mutants killed", "audit/score", "audit/main_score"),
                reports.MediaBrowser(
                    title="Figures", media_keys=["figures/accuracy_by_tier", "figures/failures"], num_columns=2
                ),
                reports.RunComparer(diff_only="split"),
            ],
        ),
    ]


def _bars(title: str, *metrics: str) -> Any:
    import wandb_workspaces.reports.v2 as reports

    shown = [reports.SummaryMetric(metric) for metric in metrics]
    return reports.BarPlot(title=title, metrics=shown, max_runs_to_show=50)


def spec(workspace: Any) -> dict[str, Any]:
    """What saving would send, as plain JSON; identifiers are drawn anew each time."""
    found: dict[str, Any] = json.loads(workspace._to_model().model_dump_json(by_alias=True, exclude_none=True))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entity", required=True, help="the account or team that the project belongs to")
    parser.add_argument("--project", default="proceval")
    parser.add_argument("--name", default="proceval: compare runs")
    parser.add_argument("--show", action="store_true", help="print what would be sent, and send nothing")
    arguments = parser.parse_args()
    try:
        workspace = build(arguments.entity, arguments.project, arguments.name)
    except ImportError as error:
        print(f"{error}; install the extra: pip install -e '.[workspaces]'", file=sys.stderr)
        return 2
    if arguments.show:
        print(json.dumps(spec(workspace), indent=1))
        return 0
    import wandb

    try:
        workspace.save()
    except (wandb.Error, wandb.errors.CommError, ValueError, OSError) as error:
        print(f"not saved: {str(error).splitlines()[0]}", file=sys.stderr)
        return 2
    print(workspace.url)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
