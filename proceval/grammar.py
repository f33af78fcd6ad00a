"""The words of a command line as Hydra's grammar reads them: put in quotes where it could not, refused where it must not."""

import re
from collections.abc import Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from proceval.errors import InputError
from proceval.words import overrides, sweeping

LISTS = ("domain", "difficulty", "pass_k", "compare")
_ITEM = re.compile(r"""(?:"[^"]*"|'[^']*'|[^,"'])+""")
"""Of a list, up to the next comma outside of quotes."""


def legible(arguments: Sequence[str]) -> list[str]:
    """The same words, those in quotes that Hydra could not read: a path or id with spaces, brackets or an equals sign.

    In a list each of the items gets its own quotes, in a sweep each of the values between commas.
    """
    own = set(overrides(list(arguments)))
    return [_legible(word, sweeping(list(arguments))) if word in own else word for word in arguments]


def _legible(word: str, many: bool) -> str:
    key, sign, value = word.partition("=")
    if not sign or _parsed(word) is not None:
        return word
    if value.startswith("[") and value.endswith("]") and "[" not in value[1:]:
        items = [one if _parsed(f"x=[{one}]") else quoted(one) for one in _ITEM.findall(value[1:-1])]
        listed = f"{key}=[{','.join(items)}]"
        if _parsed(listed) is not None:
            return listed
    values = value.split(",") if many and "'" not in value and '"' not in value else [value]
    better = f"{key}={','.join(quoted(one) for one in values)}"
    return word if _parsed(better) is None else better


def _parsed(word: str) -> list[Override] | None:
    try:
        return OverridesParser.create().parse_overrides([word])
    except HydraException:
        return None


def read(arguments: Sequence[str]) -> list[Override]:
    """The overrides of a command line. Raises InputError for a word that Hydra cannot read, and for a sweep without
    `--multirun`."""
    found: list[Override] = []
    for word in overrides(list(arguments)):
        parsed = _parsed(word)
        key, _, value = word.partition("=")
        swept = [str(one) for o in parsed or () if o.is_sweep_override() for one in o.sweep_string_iterator()]
        if twice := next((one for one in swept if swept.count(one) > 1), None):
            raise InputError(f"{word}: {twice} stands there twice, and would be run twice; name it once")
        if parsed is None:
            raise InputError(
                f"cannot read {word!r}: write KEY=VALUE, a value with signs of its own in quotes within quotes"
            )
        if any(one.is_sweep_override() for one in parsed) and not sweeping(list(arguments)):
            listed = f" (or write a list, {key}=[{value}])" if key in LISTS else ""
            raise InputError(f"{word}: several values; add --multirun to sweep over them{listed}")
        found += parsed
    return found


def quoted(text: str) -> str:
    """A text as one value, whatever signs it holds."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
