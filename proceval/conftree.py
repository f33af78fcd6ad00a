"""The conf/ tree as folders and files: read without Hydra, for quick help and for tests."""

import re
from pathlib import Path


def config_dir() -> Path:
    """The conf/ folder: the wheel's copy inside the package, else the checkout's beside it."""
    here = Path(__file__).resolve().parent
    for folder in (here / "conf", here.parent / "conf"):
        if (folder / "config.yaml").is_file():
            return folder
    raise SystemExit("proceval: no conf/ folder inside or beside the package; reinstall proceval")


def groups(conf: Path) -> dict[str, list[str]]:
    """Config group -> its options, read from the tree."""
    return {
        group.name: sorted(option.stem for option in group.glob("*.yaml"))
        for group in sorted(conf.iterdir())
        if group.is_dir() and any(group.glob("*.yaml"))
    }


def top_keys(conf: Path) -> dict[str, str]:
    """Top-level keys of config.yaml -> the comment that stands beside each."""
    text = (conf / "config.yaml").read_text(encoding="utf-8")
    found = re.findall(r"^(\w+):[^#\n]*(?:#\s*(.*))?$", text, re.MULTILINE)
    return {key: comment for key, comment in found if key not in ("defaults", "hydra")}


def usual(conf: Path, track: str | None = None) -> dict[str, str]:
    """Group -> default option, and top-level key -> default value, as config.yaml and then the track's file write them."""
    text = (conf / "config.yaml").read_text(encoding="utf-8")
    chosen = re.findall(r"^  - (\w+): (\w+)", text, re.MULTILINE)
    own = conf / "track" / f"{track}.yaml"
    text += (
        own.read_text(encoding="utf-8")
        if own.is_file() and own.read_text(encoding="utf-8").startswith("# @pack")
        else ""
    )
    return dict(chosen + re.findall(r"^(\w+): *([^#\n]*?) *(?:#.*)?$", text, re.MULTILINE))


def holders(conf: Path, key: str) -> list[str]:
    """Groups with an option that has this key: `base_url` is one of model."""
    holds = re.compile(rf"^{re.escape(key)}:", re.MULTILINE)
    return [
        group
        for group, options in groups(conf).items()
        if any(holds.search((conf / group / f"{option}.yaml").read_text(encoding="utf-8")) for option in options)
    ]


def holding(conf: Path, group: str) -> dict[str, list[str]]:
    """Key -> the options of a group that have it; nothing where there is no such group."""
    found: dict[str, list[str]] = {}
    for option in groups(conf).get(group, ()):
        text = (conf / group / f"{option}.yaml").read_text(encoding="utf-8")
        for key in re.findall(r"^([A-Za-z]\w*):", text, re.MULTILINE):
            if key != "defaults" and not text.startswith("# @pack"):
                found.setdefault(key, []).append(option)
    return found


def offline(conf: Path) -> list[str]:
    """Models that need neither network nor key: those whose file begins with the word Offline."""
    return [
        option
        for option in groups(conf)["model"]
        if (conf / "model" / f"{option}.yaml").read_text(encoding="utf-8").startswith("# Offline")
    ]


def family_of(conf: Path, name: str) -> str | None:
    """The domain whose file names this family, or None."""
    holds = re.compile(rf"^  {re.escape(name)}:", re.MULTILINE)
    files = ((conf / "domain" / f"{domain}.yaml") for domain in groups(conf)["domain"])
    return next((file.stem for file in files if holds.search(file.read_text(encoding="utf-8"))), None)
