"""LEADERBOARD.md from a sweep over models and strategies.

    python -m proceval --multirun experiment=frontier_models
    python scripts/leaderboard.py outputs/sweeps/NAME [--output LEADERBOARD.md] [--check]

Reads the sweep's summary.json (stage=report dataset=SWEEP writes it anew). `--check` writes nothing and fails when the
file differs. Every figure is one of the summary's, or a ratio of two; unknown is a dash and never 0.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

Plain = dict[str, Any]


def leaderboard(summary: Plain) -> str:
    """The page as Markdown. Raises ValueError when the sweep judged nothing."""
    contestants = (summary.get("scores") or {}).get("contestants") or []
    if not contestants:
        raise ValueError("this sweep has no scores")
    ranked = sorted(contestants, key=lambda c: (-(c["overall"]["accuracy"] or 0), c["name"]))
    domains = sorted({domain for c in ranked for domain in c["by_domain"]})
    frontier = {c["name"] for c in ranked if on_frontier(c, ranked)}
    lines = ["# Leaderboard", ""]
    lines += table(
        ["", "accuracy", "95%", *domains, "pass@1", "pass@5", "tokens", "USD", "frontier"],
        [
            [
                c["name"],
                share(c["overall"]["accuracy"]),
                span(c["overall"]["interval"]),
                *(share((c["by_domain"].get(domain) or {}).get("accuracy")) for domain in domains),
                share(pass_at(c, 1)),
                share(pass_at(c, 5)),
                number(tokens(c), ",.0f"),
                number(per_sample(c, "cost_usd"), ".6f"),
                "yes" if c["name"] in frontier else "",
            ]
            for c in ranked
        ],
    )
    first = ranked[0]["overall"]
    lines += [
        "",
        f"Tokens and dollars are means a sample. {first['problems']} problems, {first['prompts']} distinct prompts: "
        "intervals count prompts. A contestant is on the frontier when none is at least as accurate for fewer tokens.",
    ]
    unscored = [f"{sum(c['overall']['unscored'].values())} of {c['name']}" for c in ranked if c["overall"]["unscored"]]
    if unscored:
        lines += ["", "Unscored samples, in no figure above: " + ", ".join(unscored) + "."]
    offline = sorted({c["offline"] for c in ranked if c.get("offline")})
    if offline:
        lines += [
            "",
            f"Offline models ({', '.join(offline)}) show the machinery and support no claim about difficulty.",
        ]
    return "\n".join(lines + equal_tokens(ranked)) + "\n"


def equal_tokens(ranked: list[Plain]) -> list[str]:
    """Each strategy beside as many flat samples as its tokens buy.

    Flat samples without a choice among them score pass@1; with a perfect choice they would score pass@k: an upper bound
    that no strategy without the hidden tests is promised to reach.
    """
    rows = []
    for c in ranked:
        flat = next((f for f in ranked if f["strategy"] == "flat" and alike(f, c)), None)
        if c["strategy"] == "flat" or flat is None or not tokens(flat) or not tokens(c):
            continue
        bought = max(1, int(tokens(c) / tokens(flat)))
        curve = {int(k): value for k, value in flat["pass_curve"]}
        rows.append(
            [c["name"], share(c["overall"]["accuracy"]), str(bought), share(curve.get(1)), share(curve.get(bought))]
        )
    if not rows:
        return []
    heads = ["", "accuracy", "flat samples for its tokens", "one of them", "the best of them"]
    return ["", "## Strategies at equal tokens", "", *table(heads, rows)]


def alike(one: Plain, other: Plain) -> bool:
    return all(one[part] == other[part] for part in ("model", "base_url", "mode", "arm"))


def on_frontier(c: Plain, others: list[Plain]) -> bool:
    """Pareto: nobody is at least as accurate and cheaper in tokens, or as cheap and more accurate."""
    mine, cost = c["overall"]["accuracy"], tokens(c)
    if mine is None or cost is None:
        return False
    known = [(o["overall"]["accuracy"], tokens(o)) for o in others if o["overall"]["accuracy"] is not None]
    return not any(t is not None and a >= mine and t <= cost and (a > mine or t < cost) for a, t in known)


def tokens(c: Plain) -> float | None:
    prompt, completion = per_sample(c, "prompt_tokens"), per_sample(c, "completion_tokens")
    return None if prompt is None or completion is None else prompt + completion


def per_sample(c: Plain, key: str) -> float | None:
    total, count = c["overall"][key]["total"], c["overall"]["samples"]
    return None if total is None or not count else float(total) / count


def pass_at(c: Plain, k: int) -> float | None:
    found: float | None = (c["overall"]["pass_at_k"].get(str(k)) or {}).get("value")
    return found


def share(value: float | None) -> str:
    return number(None if value is None else 100 * value, ".1f") + ("" if value is None else "%")


def number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def span(interval: list[float] | None) -> str:
    return "-" if interval is None else f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f}"


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---"] + ["---:"] * (len(heads) - 1)
    return ["| " + " | ".join(row) + " |" for row in [heads, rule, *rows]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=Path)
    parser.add_argument("--output", type=Path, help="default: LEADERBOARD.md in the sweep's folder")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    source = options.sweep / "summary.json"
    if not source.is_file():
        print(f"{source}: no such file; run python -m proceval stage=report dataset={options.sweep}", file=sys.stderr)
        return 2
    try:
        page = leaderboard(json.loads(source.read_text(encoding="utf-8")))
    except ValueError as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 2
    output: Path = options.output or options.sweep / "LEADERBOARD.md"
    if options.check:
        stale = not output.is_file() or output.read_text(encoding="utf-8") != page
        print(f"{output} is stale" if stale else f"{output} is up to date")
        return int(stale)
    output.write_text(page, encoding="utf-8")
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
