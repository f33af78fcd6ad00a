"""What runs are called: short names of their parts, and folders named by what differs from the defaults."""

import os
import re
from typing import Any

from proceval.conftree import config_dir, usual

TARGET = "_target_"
TOLD = ("seed", "count", "samples", "limit")
"""Top-level keys that a folder's name holds where they differ from the defaults; any other key is in its identity."""

OF_CASES = ("model", "strategy", "track", "sandbox")
"""Parts that make a run over cases of a track's own; the others are of proved problems."""

Plain = dict[str, Any]


def slug(text: object) -> str:
    """A text as a safe folder name of at most 100 characters."""
    plain = re.sub(r"(^|,)\+\+", r"\1", str(text))  # of a sweep's word that adds a key
    return re.sub(r"[^A-Za-z0-9._=+,-]+", "_", plain).strip("._")[:100] or "default"


def described(settings: Plain) -> dict[str, str]:
    """Short names of the parts of a run, as a person would write them on the command line."""
    model, mode = settings["model"], settings["track"].get("mode")
    made = {
        "domain": "+".join(sorted(settings["domain"])),
        "difficulty": "+".join(settings["difficulty"]),
        "model": str(model.get("id") or option(model)),
        "strategy": option(settings["strategy"]),
        "track": option(settings["track"]) + (f" ({mode})" if mode else ""),
        "sandbox": option(settings["sandbox"]),
        "prover": option(settings["prover"]),
        "audit": option(settings["audit"]),
        "seed": str(settings["seed"]),
    }
    return {key: name for key, name in made.items() if option(settings["track"]) == "solve" or key in OF_CASES}


def option(node: Plain) -> str:
    """The option of a group that made this node: `proceval.strategy.best_of_n.BestOfN` is best_of_n."""
    return str(node.get(TARGET, "")).split(".")[-2:][0] or "-"


def run_folder(settings: Plain, identity: str) -> str:
    """`OUTPUTS/DOMAINS-TIERS-MODEL[-what else differs from the defaults]-IDENTITY`, of one configuration always the same."""
    track, stage = option(settings["track"]), option(settings["stage"])
    named, default = described(settings), usual(config_dir(), track)
    problems = (
        ["all" if len(settings["domain"]) == 3 else named["domain"], named["difficulty"]] if "domain" in named else []
    )
    parts = [*problems, slug(named["model"])]
    for group in ("track", "strategy", "sandbox", "prover", "audit"):
        chosen = option(settings[group])
        parts += [chosen] if chosen != default[group] else []
    mode = settings["track"].get("mode", "code")
    parts += [mode] if mode != "code" else []
    told = TOLD if track == "solve" or stage == "generate" else ("samples", "limit")
    parts += [
        f"{key}_{_told(settings[key])}" for key in told if _told(settings[key]) != default[key].replace("null", "None")
    ]
    readable = slug("-".join(part for part in parts if part))[:80].rstrip("-._")
    return os.path.join(str(settings.get("outputs", "outputs")), f"{readable}-{identity[:8]}")


def _told(value: Any) -> str:
    return "mixed" if isinstance(value, dict) else str(value)
