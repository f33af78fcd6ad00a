"""The words of a command line, read with the standard library alone, so that help and typing mistakes cost no imports."""

import difflib
import os
import re
import shlex
from collections.abc import Iterable

from proceval.conftree import config_dir, family_of, groups, holders, top_keys, usual

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
OPTIONS = {
    *TAKES_A_VALUE, "--help", "-h", "--hydra-help", "--version", "--resolve", "--run", "-r", "--multirun", "-m",
    "--shell-completion", "-sc", "--experimental-rerun",
}  # fmt: skip
"""Hydra's own words that begin with a dash."""


def overrides(arguments: list[str]) -> list[str]:
    """The words that are overrides: neither Hydra's own options nor the values that follow some of them."""
    return [
        word
        for before, word in zip(["", *arguments], arguments, strict=False)
        if not word.startswith("-") and before not in TAKES_A_VALUE
    ]


def literal(arguments: list[str]) -> list[str]:
    """The words with an id, and whatever names something on the disk, quoted: a folder's name may hold `=`, `,` or a space."""
    return [_literal(word) for word in arguments]


def _literal(word: str) -> str:
    key, equals, value = word.partition("=")
    if key == "id" and re.fullmatch(r"\w+", value) and value != "null":  # 354e60 is no number
        return f'id="{value}"'
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


def complaint(arguments: list[str]) -> str | None:
    """One sentence on what is wrong with the words alone, or None."""
    return dashed(arguments) or misspelt(overrides(arguments)) or repeated(overrides(arguments))


def dashed(arguments: list[str]) -> str | None:
    """One sentence on the first word with dashes that Hydra does not know, or None."""
    conf = config_dir()
    default = {**dict.fromkeys(groups(conf), ""), **usual(conf)}
    for word, then in zip(arguments, [*arguments, ""][1:], strict=True):
        option, equals, value = word.partition("=")
        if option in TAKES_A_VALUE - {"--info", "-i"} and not (equals or then):
            return f"{word} needs a value behind it{', as in --cfg job' if option in ('--cfg', '-c') else ''}"
        if not word.startswith("-") or option in OPTIONS:
            continue
        key = option.lstrip("-").replace("-", "_")
        if key.partition(".")[0] not in default:
            return f"unknown option '{word}'; keys are written KEY=VALUE without dashes, and --help lists them"
        following = then if then and "=" not in then and not then.startswith("-") else ""
        flag = "true" if default.get(key) in ("true", "false") else "VALUE"
        return f"'{word}': keys take no dashes; write {key}={value or following or flag}"
    return None


def repeated(arguments: list[str]) -> str | None:
    """One sentence on the first key that is given twice with different values, or None: the last would win unseen."""
    said: dict[str, str] = {}
    for argument in arguments:
        key, equals, value = argument.lstrip("+").partition("=")
        if equals and not key.startswith("~") and said.setdefault(key, value) != value:
            return f"{key} is given twice, {key}={said[key]} and {key}={value}; keep one of them"
    return None


def misspelt(arguments: list[str]) -> str | None:
    """One sentence on the first word whose key, or whose option of a group, does not exist, or None."""
    conf = config_dir()
    options = groups(conf)
    known = sorted({*options, *top_keys(conf), "hydra"})
    for argument in arguments:
        match = re.match(r"^[+~]{0,2}([A-Za-z_]\w*)(?:[./@][^=]*)?(?:=|$)", argument)
        if match is None:
            spaced = re.match(r"([\w.]+)\s*=\s*(.*)", argument)
            how = f"write {spaced[1]}={spaced[2]}" if spaced else "`python -m proceval --help` lists the keys"
            return f"'{argument}' is no KEY=VALUE; {how}"
        if match[1] not in known:
            return f"unknown key '{match[1]}' in '{argument}'; {_meant(argument, match[1], known)}"
        nothing = re.fullmatch(r"\+?(\w+)=\s*(?:\[[\s,]*\]|null)?\s*", argument)
        if nothing is not None and nothing[1] in options and nothing[1] != "experiment":
            return f"'{argument}' chooses nothing; {nothing[1]} needs at least one of: {', '.join(options[nothing[1]])}"
        if re.fullmatch(r"\+?model=(/.*|.*/)", argument):
            return f"'{argument}' is half a model id; write PROVIDER/NAME, as in model=openai/gpt-4o-mini"
        plain = re.fullmatch(r"\+?(\w+)=([\w,\[\] -]*)", argument)
        if plain is not None and plain[1] in options:
            chosen = re.findall(r"[\w-]+", plain[2])
            for option in chosen:
                if option not in (*options[plain[1]], "null"):
                    return _no_option(plain[1], option, options[plain[1]])
                if re.search(r"\w +[\w-]", plain[2]):
                    return f"'{argument}' is no list; write {plain[1]}=[{','.join(chosen)}]"
                if chosen.count(option) > 1:
                    return f"'{argument}' names {option} twice; name it once"
    return None


def _meant(argument: str, key: str, known: list[str]) -> str:
    """What somebody may have meant by a word whose key is unknown."""
    of = [group for group, options in groups(config_dir()).items() if argument in options]
    if of:
        return f"did you mean '{of[0]}={argument}'?"
    if near := difflib.get_close_matches(key, known, 1, 0.75):
        return f"did you mean '{near[0]}'?"
    if below := holders(config_dir(), key):
        return f"did you mean {' or '.join(repr(f'{group}.{key}') for group in below)}?"
    near = difflib.get_close_matches(key, known, 1, 0.6)
    return f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(known)}."


def _no_option(group: str, option: str, known: list[str]) -> str:
    near = difflib.get_close_matches(option, known, 1, 0.5)
    advice = f"did you mean '{near[0]}'? " if near else ""
    if group == "domain" and (home := family_of(config_dir(), option)):
        advice = f"it is a family of domain={home}; "
    more = f", or PROVIDER/NAME for any LiteLLM id, as in openai/{option}" if group == "model" else ""
    return f"unknown option '{option}' of {group}; {advice}options: {', '.join(known)}{more}"


def counted(count: int, noun: str, many: str = "") -> str:
    """`1 problem`, `2 problems`; `many` where the plural is not noun + s."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def shown(path: str | os.PathLike[str]) -> str:
    """A path as it is said everywhere: relative where it lies below the working directory, else absolute."""
    whole, here = os.path.abspath(path), os.getcwd()
    return os.path.relpath(whole, here) if whole == here or whole.startswith(here.rstrip("/") + "/") else whole


def command(arguments: Iterable[str]) -> str:
    """The command line that says it again; `fresh=true` is left out, so that it resumes."""
    return shlex.join(["python", "-m", "proceval", *(_bare(a) for a in arguments if a != "fresh=true")])


def _bare(word: str) -> str:
    """A word without the quotes that were put around its path for Hydra, and will be again."""
    quoted = re.fullmatch(r"""([^='"]+)=(['"])([^'"\\\[\]{}]*[ /][^'"\\\[\]{}]*)\2""", word)
    return f"{quoted[1]}={quoted[3]}" if quoted else word


def interrupted(arguments: list[str]) -> str:
    """What Ctrl-C and a polite kill leave on the screen."""
    return f"\nproceval: interrupted; nothing finished is lost. Resume with:\n  {command(arguments)}"
