"""The words of a command line, read with the standard library alone, so that help and typing mistakes cost no imports."""

import difflib
import os
import re
import shlex
from collections.abc import Iterable

from proceval.conftree import config_dir, family_of, groups, holders, holding, top_keys, usual

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
    "--experimental-rerun",
}
OPTIONS = {
    *TAKES_A_VALUE, "--help", "-h", "--hydra-help", "--version", "--resolve", "--run", "-r", "--multirun", "-m",
    "--shell-completion", "-sc",
}  # fmt: skip
"""Hydra's own words that begin with a dash."""
INFO = ("--info", "-i")
ALONE = ("--info", "--cfg", "--multirun", "--run")
OPEN = re.compile(r"(?:model|track\.judges\.[\w-]+)\.extra[.=]")
"""Words for the one mapping of a model that takes any key, which Hydra wants to see added."""
LISTED = ("domain", "difficulty", "experiment")
"""Groups of which several options can be chosen for one run."""


def overrides(arguments: Iterable[str]) -> list[str]:
    """The words that are overrides: neither Hydra's own options nor the values that follow some of them."""
    return _sorted(arguments)[1]


def options(arguments: Iterable[str]) -> list[str]:
    """Hydra's own options, each with the value that follows it."""
    return _sorted(arguments)[0]


def ordered(arguments: Iterable[str]) -> list[str]:
    """The options first, then the overrides: Hydra's parser takes no override behind an option that stands among them."""
    first, then = _sorted(arguments)
    return [*first, *then]


def _sorted(arguments: Iterable[str]) -> tuple[list[str], list[str]]:
    dashed: list[str] = []
    plain: list[str] = []
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            plain.append(word)
        elif word in TAKES_A_VALUE and (value := next(words, None)) is not None:
            if word in INFO and ("=" in value or value.startswith("-")):  # its value may be left out
                dashed.append("--info=all")
                first, then = _sorted([value, *words])
                return [*dashed, *first], [*plain, *then]
            dashed += [word, value]
        else:
            dashed.append("--info=all" if word in INFO else word)
    return dashed, plain


def literal(arguments: Iterable[str]) -> list[str]:
    """The words as they are meant: an id, and whatever names something on the disk, in quotes, since a folder's name may
    hold `=`, `,` or a space; with `++` those that add a key of somebody's own."""
    return [_literal(word) for word in arguments]


def _literal(word: str) -> str:
    if OPEN.match(word):
        return f"++{word}"
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
    said = {word.partition("=")[0] for word in options(arguments)}
    alone = [word for word in ALONE if said & {word, word[1:3]}]
    if len(alone) > 1:
        return f"{' and '.join(alone)} do not go together; leave {'one' if len(alone) == 2 else 'all but one'} out"
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
            if all(re.match(r"\w+:(?!//)", one) for one in (said[key], value)):
                return f"a shell takes {{A,B}} apart; put quotes around it: '{key}={{{said[key]},{value}}}'"
            return f"{key} is given twice, {key}={said[key]} and {key}={value}; keep one of them"
    return None


def misspelt(arguments: list[str]) -> str | None:
    """One sentence on the first word whose key, or whose option of a group, does not exist, or None."""
    if taken := misread(arguments):
        return taken
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


def misread(arguments: Iterable[str]) -> str | None:
    """One sentence on the first word that Hydra would take for something else without a word about it, or None."""
    for argument in arguments:
        key, _, value = argument.lstrip("+").partition("=")
        group = key.partition("@")[0]
        listed = re.fullmatch(r"\[(.*)\]", value.strip())
        if listed and listed[1].strip() and group not in LISTED and group in groups(config_dir()):
            return f"{argument}: one {group} at a time, {_one_by_one(key, listed[1])}"
        for item in (one.strip() for one in value.split(",")):
            if group == "model" and "/" in item and item.endswith(".yaml"):
                return f"{argument}: Hydra takes .yaml off an option; write model=litellm model.id={item}"
            if key == "seed" and _NUMBER.fullmatch(item) and not re.fullmatch(r"-?[1-9]\d*|\d+", item):
                return (
                    f"seed={item}: a seed is a whole number in plain digits, or a name; {item} needs quotes to be a name, "
                    f"""seed='"{item}"'"""
                )
    return None


_NUMBER = re.compile(r"[+-]?(?:[\d_]*\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?|[+-]?(?:inf|nan)", re.IGNORECASE)
"""What Hydra takes for a number, such as 2026_11 or 1e5."""


def _one_by_one(key: str, items: str) -> str:
    chosen = [item.strip() for item in items.split(",")]
    if len(chosen) == 1:
        return f"without brackets: {key}={chosen[0]}"
    if key == "stage":
        return (
            f"one command after the other, or {key}=benchmark, which goes through generate, audit, evaluate and report"
        )
    return f"{key}={chosen[0]}; to compare several, --multirun {key}={','.join(chosen)}"


def unknown(path: str, known: Iterable[str]) -> str:
    """One sentence on a key that its node does not have, with the nearest of those that it has."""
    above, _, key = path.rpartition(".")
    names = [name for name in known if not name.startswith("_")]
    if above in LISTED and key in groups(config_dir())[above]:
        return f"'{path}' is not there, since {above}={key} is not chosen; write {above}=[{','.join([*names, key])}]"
    elsewhere = holding(config_dir(), above)
    if key in elsewhere:
        advice = f"it is a key of {above}={', '.join(elsewhere[key])}"
    elif near := difflib.get_close_matches(key, names, 1, 0.6):
        advice = f"did you mean '{near[0]}'?"
    elif near := difflib.get_close_matches(key, elsewhere, 1, 0.8):
        advice = f"did you mean '{near[0]}' of {above}={', '.join(elsewhere[near[0]])}?"
    else:
        advice = f"known keys: {', '.join(names)}" if names else f"'{above}' has no keys of its own"
    return f"unknown key '{path}'; {advice}"


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
    """A word without the quotes or the `++` that were put around it for Hydra, and will be again."""
    if word.startswith("++") and OPEN.match(word[2:]):
        return word[2:]
    quoted = re.fullmatch(r"""([^='"]+)=(['"])([^'"\\\[\]{}]*[ /][^'"\\\[\]{}]*)\2""", word)
    return f"{quoted[1]}={quoted[3]}" if quoted else word


def interrupted(arguments: list[str]) -> str:
    """What Ctrl-C and a polite kill leave on the screen."""
    return f"\nproceval: interrupted; nothing finished is lost. Resume with:\n  {command(arguments)}"
