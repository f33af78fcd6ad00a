"""Canonical typed text of plain values: two texts are equal exactly when the values and all their types are.

The text is JSON with a one-key object for whatever JSON lacks: {"tuple":[..]}, {"set":[..]}, {"frozenset":[..]},
{"dict":[[key,value],..]}, {"bytes":"hex"}, {"int":"0x.."} from 2**63 on, {"str":"hex of UTF-8"} for strings with lone
surrogates. Members of sets and dicts are sorted by their text, so no order and no hash of the guest's is involved.
True, 1 and 1.0 differ; every NaN is one NaN; -0.0 is 0.0, as `==` has it.
"""

import builtins
import functools
import json
from collections.abc import Callable
from typing import Any

# Code that runs later in the guest may patch the builtins; the functions below keep the ones they were born with.
globals()["__builtins__"] = dict(vars(builtins))

MAX_DEPTH = 200
"""Containers inside containers, at most."""
_SMALL = 1 << 63
_SAME_HASH = 1000
_SHORT = 1000
_quote = json.encoder.encode_basestring_ascii


class Unserialisable(ValueError):
    """Not exactly a builtin plain type all the way down (a subclass does not count), or nested too deeply."""


class TooLarge(ValueError):
    """The text would have more characters than allowed."""


def encode(value: Any, max_characters: int = 1 << 62) -> str:
    """The canonical text, ASCII only; raises Unserialisable or TooLarge before doing work out of proportion."""
    text = _encode(value, MAX_DEPTH, [max_characters])
    if len(text) > max_characters:
        raise TooLarge(f"more than {max_characters} characters")
    return text


def decode(text: str) -> Any:
    """The value of a canonical text, built anew; raises ValueError for every text that `encode` does not write.

    Safe on hostile text: no more than a thousand keys of equal hash get into one table.
    """
    value = parse(text)
    try:
        canonical = encode(value)
    except (Unserialisable, RecursionError) as error:
        raise ValueError(f"not a canonical text: {error}") from None
    if canonical != text:
        raise ValueError("not a canonical text: written differently")
    return value


def check(text: str) -> None:
    """Raise ValueError for every text that `encode` does not write; short ones that were fine are remembered."""
    if len(text) <= _SHORT:
        _check_short(text)
    else:
        decode(text)


@functools.lru_cache(maxsize=4096)
def _check_short(text: str) -> None:
    decode(text)


def parse(text: str) -> Any:
    """`decode` for texts of our own making: does not check that the text is canonical."""
    try:
        value, end = _scan(text, 0)
    except (StopIteration, json.JSONDecodeError):
        raise ValueError("not a canonical text: not JSON") from None
    except (RecursionError, TypeError) as error:
        raise ValueError(f"not a canonical text: {error}") from None
    if end != len(text):
        raise ValueError("not a canonical text: something follows")
    return value


def _encode(value: Any, depth: int, left: list[int]) -> str:
    kind = type(value)
    left[0] -= 1
    if left[0] < 0:
        raise TooLarge("too many values")
    if kind is int:
        return repr(value) if -_SMALL < value < _SMALL else _integer(value, left)
    if kind is str:
        return _string(value, left)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return "NaN" if value != value else repr(value + 0.0).replace("inf", "Infinity")
    if kind is bytes:
        _spend(left, 2 * len(value))
        return f'{{"bytes":"{value.hex()}"}}'
    if depth <= 0:
        raise Unserialisable(f"nested more than {MAX_DEPTH} deep")
    if kind is list:
        return "[" + _sequence(value, depth - 1, left) + "]"
    if kind is tuple:
        return '{"tuple":[' + _sequence(value, depth - 1, left) + "]}"
    if kind is dict:
        pairs = [(_encode(key, depth - 1, left), _encode(item, depth - 1, left)) for key, item in value.items()]
        pairs.sort()
        return '{"dict":[' + ",".join([f"[{key},{item}]" for key, item in pairs]) + "]}"
    if kind is set or kind is frozenset:
        members = sorted([_encode(member, depth - 1, left) for member in value])
        return f'{{"{"set" if kind is set else "frozenset"}":[' + ",".join(members) + "]}"
    raise Unserialisable(type.__dict__["__name__"].__get__(kind))


def _sequence(items: Any, depth: int, left: list[int]) -> str:
    # Small integers are common and worth a path without a call per item.
    left[0] -= len(items)
    if left[0] < 0:
        raise TooLarge("too many values")
    return ",".join(
        [repr(item) if type(item) is int and -_SMALL < item < _SMALL else _encode(item, depth, left) for item in items]
    )


def _integer(value: int, left: list[int]) -> str:
    _spend(left, value.bit_length() // 4)
    return f'{{"int":"{hex(value)}"}}'


def _string(value: str, left: list[int]) -> str:
    left[0] -= len(value)
    if left[0] < 0:
        raise TooLarge("too many characters")
    if value.isascii():
        return _quote(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        # JSON would join two halves of a pair into one character, and the text would stand for two values.
        return f'{{"str":"{value.encode("utf-8", "surrogatepass").hex()}"}}'
    return _quote(value)


def _spend(left: list[int], characters: int) -> None:
    left[0] -= characters
    if left[0] < 0:
        raise TooLarge("too many characters")


def _tagged(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) != 1:
        raise ValueError("not a canonical text: an object has one key")
    tag, body = pairs[0]
    if tag in ("tuple", "set", "frozenset", "dict"):
        if type(body) is not list:
            raise ValueError(f"not a canonical text: {tag} holds a list")
        if tag == "tuple":
            return tuple(body)
        if tag == "dict":
            if any([type(pair) is not list or len(pair) != 2 for pair in body]):
                raise ValueError("not a canonical text: dict holds pairs")
            _no_flood([key for key, _ in body])
            return {key: item for key, item in body}
        _no_flood(body)
        return set(body) if tag == "set" else frozenset(body)
    if tag in ("bytes", "str", "int") and type(body) is str:
        if tag == "int":
            return int(body, 16)
        raw = bytes.fromhex(body)
        return raw if tag == "bytes" else raw.decode("utf-8", "surrogatepass")
    raise ValueError(f"not a canonical text: unknown tag {tag[:40]!r}")


def _no_flood(keys: list[Any]) -> None:
    if len(keys) <= _SAME_HASH:
        return
    hashes = sorted([hash(key) for key in keys])
    if any([first == last for first, last in zip(hashes, hashes[_SAME_HASH:], strict=False)]):
        raise ValueError(f"not accepted: more than {_SAME_HASH} keys of equal hash")


# Integers are read by the interpreter's own function, which is fast and refuses thousands of digits by itself; shorter
# ones that should have been hexadecimal are found when the text is compared.
# `float` for constants makes a new object for every NaN, so that a set keeps as many as it held.
_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(object_pairs_hook=_tagged, parse_constant=float))[
    "scan_once"
]
