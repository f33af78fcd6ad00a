"""What a command printed against what it must print, letter by letter, on the host."""

from itertools import zip_longest

_MOST_SHOWN = 100


def unlike(expected: str, printed: bytes) -> str | None:
    """None where both are the same apart from one line end at the end; else where they first differ, in one line."""
    try:
        text = printed.decode("utf-8")
    except UnicodeDecodeError as error:
        line = printed[: error.start].count(b"\n") + 1
        return f"line {line} of the output is not UTF-8 text: {error.reason}"
    wanted, given = (one.removesuffix("\n") for one in (expected, text))
    if wanted == given:
        return None
    # At line ends alone, as a command writes them: other separators are letters like others.
    pairs = zip_longest(wanted.split("\n"), given.split("\n") if given else [])
    number, (ours, theirs) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    if theirs is None:
        return f"line {number} is missing: {shown_line(ours)}"
    if ours is None:
        return f"line {number} is one too many: {shown_line(theirs)}"
    if ours[: _MOST_SHOWN - 20] == theirs[: _MOST_SHOWN - 20]:
        at = next(n for n, (a, b) in enumerate(zip_longest(ours, theirs)) if a != b)
        start = max(0, at - 20)
        return (
            f"line {number} from character {start + 1} is {shown_line(theirs[start:])}, not {shown_line(ours[start:])}"
        )
    return f"line {number} is {shown_line(theirs)}, not {shown_line(ours)}"


def shown_line(line: str | None) -> str:
    """A line as it can stand in a report: cut, and nothing in it that moves a cursor or hides."""
    text = line or ""
    cut = text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."
    letters = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in cut)
    return '"' + "".join(letters) + '"'
