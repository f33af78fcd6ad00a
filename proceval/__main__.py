"""`python -m proceval`: plain help costs a few milliseconds, so heavy imports wait until it is known that it is not help."""

import signal
import sys

from proceval.conftree import config_dir, groups, top_keys
from proceval.words import interrupted, literal_paths, misspelt, overrides

INTERRUPTED = 130


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
    lines += [f"  {'':<13}model also takes PROVIDER/NAME, any LiteLLM id", "", "keys (KEY=VALUE)"]
    lines += [f"  {key + '=':<13}{comment}" for key, comment in top_keys(conf).items()]
    lines += [
        "",
        "examples",
        "  python -m proceval                                         the whole main job, offline",
        "  python -m proceval domain=graphs difficulty=hard",
        "  python -m proceval --multirun model=mock,gold difficulty=easy,hard",
        "  python -m proceval model=openai/gpt-4o-mini",
        "  python -m proceval stage=doctor",
        "",
        "--cfg job prints the composed configuration; --hydra-help shows Hydra's own options.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Entry point of `python -m proceval` and of the `proceval` script; ends the process with a documented status."""
    arguments = sys.argv[1:] = literal_paths(sys.argv[1:])
    if arguments and arguments[0] in ("--help", "-h", "help"):
        print(usage())
        raise SystemExit(0)
    if arguments == ["--version"]:
        from proceval import __version__

        print(f"proceval {__version__}")
        raise SystemExit(0)
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill resumes like Ctrl-C, from the start
        raise SystemExit(_run(arguments))
    except KeyboardInterrupt:
        print(interrupted(arguments), file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def _run(arguments: list[str]) -> int:
    completing = any(argument in ("-sc", "--shell-completion") for argument in arguments)
    complaint = None if completing else misspelt(overrides(arguments))
    if complaint:
        print(f"proceval: {complaint}", file=sys.stderr)
        return 2
    from proceval.main import run

    return run()


if __name__ == "__main__":
    main()
