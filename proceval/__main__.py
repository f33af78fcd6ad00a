"""`python -m proceval`: plain help costs a few milliseconds, so heavy imports wait until it is known that it is not help."""

import os
import signal
import sys

from proceval.conftree import config_dir, groups, offline, top_keys
from proceval.words import complaint, interrupted, literal

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
    lines += [
        f"  {'':<13}model also takes PROVIDER/NAME, any LiteLLM id",
        f"  {'':<13}offline models: {', '.join(offline(conf))}; the others ask an endpoint",
        "",
        "keys (KEY=VALUE)",
    ]
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
    arguments = sys.argv[1:] = literal(sys.argv[1:])
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill resumes like Ctrl-C, from the start
        status = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(interrupted(arguments), file=sys.stderr)
        status = INTERRUPTED
    except BrokenPipeError:  # whoever read the output has gone, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = INTERRUPTED
    raise SystemExit(status)


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["help"] or {"--help", "-h"} & {*arguments}:
        print(usage())
        return 0
    if arguments == ["--version"]:
        from proceval import __version__

        print(f"proceval {__version__}")
        return 0
    completing = any(argument in ("-sc", "--shell-completion") for argument in arguments)
    wrong = None if completing else complaint(arguments)
    if wrong:
        print(f"proceval: {wrong}", file=sys.stderr)
        return 2
    from proceval.main import run

    return run()


if __name__ == "__main__":
    main()
