r"""Ruby's regular expressions in Python's notation.

The two differ where it hurts in silence: `^` and `$` are ends of lines in Ruby, `\z` is not Python's before 3.14, `\Z` means
something else, `(?m)` is Python's `(?s)`, `\d`, `\w` and `\s` are ASCII. What has no counterpart is refused by name:
sub-expression calls, absent operators, `\K`, `\X`, `\G`, properties, nested classes and `&&`. POSIX classes are ASCII here.

Repeats differ, too (Oniguruma's RE documentation, section 4): a `+` behind `{n,m}` repeats that again where Python gives
nothing back, and a `?` behind `{n}` makes it optional where Python makes it lazy; `{,}` stands for itself.
"""

import re

_CLASSES = {  # as members of a bracket expression
    "d": "0-9",
    "w": "a-zA-Z0-9_",
    "s": r" \t\r\n\f\v",
    "h": "0-9a-fA-F",
    "D": r"\x00-\x2f\x3a-\U0010ffff",
    "W": r"\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\U0010ffff",
    "S": r"\x00-\x08\x0e-\x1f\x21-\U0010ffff",
    "H": r"\x00-\x2f\x3a-\x40\x47-\x60\x67-\U0010ffff",
}
_ANCHORS = {"A": r"\A", "z": r"\Z", "Z": r"(?=\n?\Z)"}
_ESCAPES = {"e": r"\x1b", "R": r"(?:\r\n|[\n\v\f\r\x85\u2028\u2029])"}
_LINE_START, _LINE_END = r"(?:\A|(?<=\n)(?!\Z))", r"(?=\n|\Z)"
_POSIX = {
    "alnum": "0-9a-zA-Z", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "lower": "a-z", "punct": r"!-/:-@\[-`{-~", "space": r" \t\r\n\f\v", "upper": "A-Z", "word": "a-zA-Z0-9_",
    "xdigit": "0-9a-fA-F",
}  # fmt: skip
_UNSUPPORTED = {"K", "X", "G", "g", "p", "P", "M", "C", "c", "N", "O", "y", "Y"}
_MOST_REPEATS = 100_000
_FLAGS = {"i": "i", "m": "s", "x": "x"}


class Untranslatable(ValueError):
    """A pattern that Ruby would not take either, or that has no counterpart in Python; the message says what of it."""


def translate(pattern: str) -> str:
    """The pattern for `re.compile` without flags. Raises Untranslatable."""
    translated = _Translation(pattern).whole()
    try:
        re.compile(translated)
    except (re.error, OverflowError, RecursionError) as error:
        raise Untranslatable(str(error)) from None
    return translated


def matches_nothing(translated: str) -> bool:
    """Whether a translated pattern matches the empty text."""
    return re.search(translated, "") is not None


class _Translation:
    """One pass over a pattern; `(?i)` in the middle holds to the end of its group, so that group is closed twice."""

    def __init__(self, pattern: str):
        self.pattern, self.at = pattern, 0
        self.out: list[str] = []
        self.groups: list[tuple[int, bool, int]] = []
        """For every open group: brackets to close at its end, whether spaces in it count for nothing, and where it begins."""
        self.atom: int | None = None
        """Where in `out` that begins which a repeat would repeat; None where there is nothing."""
        self.repeated: str | None = None
        """The repeat that it ends in already."""

    def whole(self) -> str:
        closing, extended = 0, False
        while self.at < len(self.pattern):
            sign = self._next()
            if sign == "(":
                closing, extended = self._open(closing, extended)
            elif sign == ")":
                if not self.groups:
                    raise Untranslatable("a ) that closes nothing")
                self.out.append(")" * (closing + 1))
                closing, extended, self.atom = self.groups.pop()
                self.repeated = None
            elif sign == "#" and extended:
                end = self.pattern.find("\n", self.at)
                self.at = len(self.pattern) if end < 0 else end
            elif sign in " \t\n\r\f\v" and extended:
                self.out.append(sign)
            elif sign not in "*+?{" or not self._repeat(sign):
                self._atom(sign)
        if self.groups:
            raise Untranslatable("a ( that nothing closes")
        return "".join(self.out) + ")" * closing

    def _atom(self, sign: str) -> None:
        """What a repeat behind it would repeat; behind `|` it would have nothing."""
        self.atom, self.repeated = None if sign == "|" else len(self.out), None
        if sign == "\\":
            self._escape()
        elif sign == "[":
            self._bracket()
        else:
            self.out.append({"^": _LINE_START, "$": _LINE_END, "{": r"\{"}.get(sign, sign))

    def _repeat(self, sign: str) -> bool:
        """Take a repeat; False for a brace that stands for itself. A repeat of a repeat has the first one in a group."""
        counted = self._take(r"([0-9]+)\}|(?!,\})[0-9]*,[0-9]*\}") if sign == "{" else None
        if sign == "{" and counted is None:
            return False
        written = sign + counted[0] if counted else sign
        if any(int(number) > _MOST_REPEATS for number in re.findall(r"\d+", written)):
            raise Untranslatable(f"{written} is more than {_MOST_REPEATS} times")
        # Ruby takes `{n}` as it is, `{n,m}` may be lazy, and the short ones may be lazy or possessive.
        behind = self._take(r"[?+]" if counted is None else "" if counted[1] else r"\?")
        written += behind[0] if behind else ""
        if self.atom is None:
            raise Untranslatable(f"there is nothing that {written} repeats")
        if self.repeated is not None:
            if "{" not in self.repeated + written:
                raise Untranslatable(
                    f"{written} behind {self.repeated} repeats a repeat; write (?:...) around the first"
                )
            self.out[self.atom :] = ["(?:", *self.out[self.atom :], ")"]
        self.out.append(written)
        self.repeated = written
        return True

    def _next(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _take(self, expression: str) -> "re.Match[str] | None":
        found = re.compile(expression).match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def _escape(self) -> None:
        if self.at >= len(self.pattern):
            raise Untranslatable("a backslash at the end")
        if point := self._take(r"u\{([0-9a-fA-F]{1,6})\}"):
            self.out.append(_character(point[1]))
            return
        if name := self._take(r"k<([A-Za-z_]\w*)>|k'([A-Za-z_]\w*)'"):
            self.out.append(f"(?P={name[1] or name[2]})")
            return
        if number := self._take(r"x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0[0-7]{0,2}|[0-7]{3}|[1-9][0-9]?"):
            self.out.append("\\" + number[0])
            return
        sign = self._next()
        if sign in _UNSUPPORTED or sign == "k":
            raise Untranslatable(f"\\{sign} has no counterpart here")
        if sign in _CLASSES:
            self.out.append(f"[{_CLASSES[sign]}]")
        else:
            self.out.append(_ANCHORS.get(sign) or _ESCAPES.get(sign) or _plain(sign))

    def _open(self, closing: int, extended: bool) -> tuple[int, bool]:
        """Behind an opening bracket: what is open inside, and whether it is extended."""
        if self._take(r"\?#[^)]*\)"):
            return closing, extended
        begins = len(self.out)
        if flags := self._take(r"\?([imx]*)(?:-([imx]+))?([:)])"):
            on, off = ("".join(_FLAGS[flag] for flag in flags[n] or "") for n in (1, 2))
            inside = "x" in on or (extended and "x" not in off)
            opened = f"(?{on}{'-' + off if off else ''}:"
            if flags[3] == ")":
                self.atom = self.repeated = None
                if not on and not off:
                    return closing, extended
                self.out.append(opened)
                return closing + 1, inside
            self.out.append(opened)
        elif name := self._take(r"\?<([A-Za-z_]\w*)>|\?'([A-Za-z_]\w*)'"):
            self.out.append(f"(?P<{name[1] or name[2]}>")
            inside = extended
        elif kind := self._take(r"\?(?:[=!>]|<[=!]|\((?:<\w+>|\w+)\))"):
            self.out.append("(" + kind[0].replace("(<", "(").replace(">)", ")"))
            inside = extended
        elif self.pattern[self.at : self.at + 1] == "?":
            raise Untranslatable(f"the group {self.pattern[self.at - 1 : self.at + 4]!r} has no counterpart here")
        else:
            self.out.append("(")
            inside = extended
        self.groups.append((closing, extended, begins))
        self.atom = self.repeated = None
        return 0, inside

    def _bracket(self) -> None:
        """A bracket expression; nested ones and intersections are refused."""
        parts = ["[^" if self._take(r"\^") else "["]
        first = True
        while True:
            if self.at >= len(self.pattern):
                raise Untranslatable("a [ that nothing closes")
            if posix := self._take(r"\[:(\^?)(\w+):\]"):
                if posix[1] or posix[2] not in _POSIX:
                    raise Untranslatable(f"{posix[0]} has no counterpart here")
                parts.append(_POSIX[posix[2]])
            elif self._take("&&"):
                raise Untranslatable("&& in a bracket expression has no counterpart here")
            else:
                sign = self._next()
                if sign == "]" and not first:
                    break
                if sign == "[":
                    raise Untranslatable(
                        "a bracket expression in another has no counterpart here; write \\[ for the sign"
                    )
                parts.append(self._member() if sign == "\\" else "\\" + sign if sign in "&|~]" else sign)
            first = False
        self.out.append("".join(parts) + "]")

    def _member(self) -> str:
        if self.at >= len(self.pattern):
            raise Untranslatable("a backslash at the end")
        if point := self._take(r"u\{([0-9a-fA-F]{1,6})\}"):
            return _character(point[1])
        sign = self._next()
        if sign in "RpPMCcXN":
            raise Untranslatable(f"\\{sign} in a bracket expression has no counterpart here")
        return _CLASSES.get(sign) or _ESCAPES.get(sign) or _plain(sign)


def _plain(sign: str) -> str:
    """An escape that both write alike, or a sign that Ruby lets anybody escape."""
    return "\\" + sign if not sign.isalpha() or sign in "abBfnrtvxu" else re.escape(sign)


def _character(digits: str) -> str:
    if int(digits, 16) > 0x10FFFF:
        raise Untranslatable(f"\\u{{{digits}}} is no character")
    return f"\\U{int(digits, 16):08x}"
