"""`python -m proceval`: plain help costs a few milliseconds, so heavy imports wait until it is known that it is not help."""

import difflib
import re
import sys

from proceval.conftree import config_dir, groups, top_keys


def usage() -> str:
    conf = config_dir()
    lines = [
        "proceval: algorithmic problems with proved answers, measured tests and durable evaluations",
        "",
        "usage: python -m proceval [GROUP=OPTION ...] [KEY=VALUE ...] [--multirun] [--cfg job]",
        "",
        "groups (GROUP=OPTION; domain and difficulty also take lists: difficulty=[easy,hard])",
    ]
    lines += [f"  {name + '=':<13}{' | '.join(options)}" for name, options in groups(conf).items()]
    lines += ["", "keys (KEY=VALUE)"]
    lines += [f"  {key + '=':<13}{comment}" for key, comment in top_keys(conf).items()]
    lines += [
        "",
        "examples",
        "  python -m proceval                                         the whole main job, offline",
        "  python -m proceval domain=graphs difficulty=hard",
        "  python -m proceval --multirun model=mock,gold difficulty=easy,hard",
        "  python -m proceval model=litellm model.id=openai/gpt-4o-mini",
        "  python -m proceval stage=doctor",
        "",
        "--cfg job prints the composed configuration; --hydra-help shows Hydra's own options.",
    ]
    return "\n".join(lines)


TAKES_A_VALUE = {
    "--cfg",
    "-c",
    "--package",
    "-p",
    "--config-path",
    "-cp",
    "--config-name",
    "-cn",
    "--config-dir",
    "-cd",
    "--info",
    "-i",
}


def overrides(arguments: list[str]) -> list[str]:
    """The words that are overrides: neither Hydra's own options nor the values that follow some of them."""
    return [
        word
        for before, word in zip(["", *arguments], arguments, strict=False)
        if not word.startswith("-") and before not in TAKES_A_VALUE
    ]


def misspelt(arguments: list[str]) -> str | None:
    """One sentence on the first override whose key does not exist, or None; Hydra itself suggests nothing here."""
    conf = config_dir()
    known = sorted({*groups(conf), *top_keys(conf), "hydra"})
    for argument in arguments:
        match = re.match(r"^[+~]{0,2}([A-Za-z_]\w*)(?:[./@][^=]*)?(?:=|$)", argument)
        if match is None or match[1] in known:
            continue
        near = difflib.get_close_matches(match[1], known, 1, 0.6)
        advice = f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(known)}."
        return f"unknown key '{match[1]}' in '{argument}'; {advice}"
    return None


def main() -> None:
    """Entry point of `python -m proceval` and of the `proceval` script; ends the process with a documented status."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("--help", "-h", "help"):
        print(usage())
        raise SystemExit(0)
    if arguments == ["--version"]:
        from proceval import __version__

        print(f"proceval {__version__}")
        raise SystemExit(0)
    completing = any(argument in ("-sc", "--shell-completion") for argument in arguments)
    complaint = None if completing else misspelt(overrides(arguments))
    if complaint:
        print(f"proceval: {complaint}", file=sys.stderr)
        raise SystemExit(2)
    from proceval.main import run

    raise SystemExit(run())


if __name__ == "__main__":
    main()
