"""The words of a command line, read with the standard library alone, so that help and typing mistakes cost no imports."""

import difflib
import os
import re
import shlex
from collections.abc import Iterable

from proceval.conftree import config_dir, groups, top_keys

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


def literal_paths(arguments: list[str]) -> list[str]:
    """The words with every value that names something on the disk quoted: a folder's name may hold `=`, `,` or a space."""
    return [_literal(word) for word in arguments]


def _literal(word: str) -> str:
    key, equals, value = word.partition("=")
    if value.startswith("[") and value.endswith("]") and (paths := _paths(value[1:-1])):
        return f"{key}=[{','.join(paths)}]"
    strange = re.search(r"[^\w./+-]", value) and not re.search(r"[\\\"']", value)
    if not equals or key.startswith("-") or not strange or not os.path.exists(value):
        return word
    return f'{key}="{value}"'


def _paths(text: str) -> list[str]:
    """Quoted paths of a list such as compare=[A,B], whose names may hold commas; none unless every one exists."""
    found, rest = [], ""
    for piece in text.split(","):
        rest = f"{rest},{piece}" if rest else piece
        if os.path.exists(rest):
            found.append(f'"{rest}"')
            rest = ""
    return [] if rest else found


def sweeping(arguments: list[str]) -> bool:
    return any(word in ("-m", "--multirun") for word in arguments)


def misspelt(arguments: list[str]) -> str | None:
    """One sentence on the first word whose key, or whose option of a group, does not exist, or None."""
    conf = config_dir()
    options = groups(conf)
    known = sorted({*options, *top_keys(conf), "hydra"})
    for argument in arguments:
        match = re.match(r"^[+~]{0,2}([A-Za-z_]\w*)(?:[./@][^=]*)?(?:=|$)", argument)
        if match is None:
            return f"'{argument}' is no KEY=VALUE; `python -m proceval --help` lists the keys"
        if match[1] not in known:
            near = difflib.get_close_matches(match[1], known, 1, 0.6)
            advice = f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(known)}."
            return f"unknown key '{match[1]}' in '{argument}'; {advice}"
        nothing = re.fullmatch(r"\+?(\w+)=\s*(?:\[[\s,]*\]|null)?\s*", argument)
        if nothing is not None and nothing[1] in options and nothing[1] != "experiment":
            return f"'{argument}' chooses nothing; {nothing[1]} needs at least one of: {', '.join(options[nothing[1]])}"
        plain = re.fullmatch(r"\+?(\w+)=([\w,\[\] -]*)", argument)
        if plain is not None and plain[1] in options:
            for option in re.findall(r"[\w-]+", plain[2]):
                if option not in (*options[plain[1]], "null"):
                    return _no_option(plain[1], option, options[plain[1]])
    return None


def _no_option(group: str, option: str, known: list[str]) -> str:
    near = difflib.get_close_matches(option, known, 1, 0.5)
    advice = f"did you mean '{near[0]}'? " if near else ""
    more = ", or PROVIDER/NAME for any LiteLLM id" if group == "model" else ""
    return f"unknown option '{option}' of {group}; {advice}options: {', '.join(known)}{more}"


def command(arguments: Iterable[str]) -> str:
    """The command line that says it again; `fresh=true` is left out, so that it resumes."""
    return shlex.join(["python", "-m", "proceval", *(a for a in arguments if a != "fresh=true")])


def interrupted(arguments: list[str]) -> str:
    """What Ctrl-C and a polite kill leave on the screen."""
    return f"\nproceval: interrupted; nothing finished is lost. Resume with:\n  {command(arguments)}"
