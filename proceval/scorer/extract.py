"""Which part of a reply is the program: line by line, by rules that are written down and recorded.

In this order:
 1. Reasoning is not an answer. `<think>...</think>` goes, before the code or after it, and only that stretch; a closing
    tag without any opening one (which the chat template held) discards all that is before it. A tag next to a quote or
    a backtick, or inside a fence, is data; but a closing tag at the end of its line, outside a fence, right behind a
    mark that closes a quotation ("use `bisect`</think>") ends the reasoning where no other tag does. A reply that
    starts with an opening tag that is never closed leaves no answer: `unclosed_reasoning`. Only what is left then
    counts against the length cap: `too_long`.
 2. Fenced blocks: three or more backticks or tildes, closed by at least as many; an unclosed one runs to the end. Words
    behind the opening fence are a language tag only when they look like one; otherwise they are the first line of code.
    Words behind a closing fence ("``` This works.") are prose, unless they look like a language tag or like code.
    A fence inside a docstring does not end a block that would not parse there. A block that holds fences of its own is
    opened. Of several blocks only those count that define the entry point; of these, those that parse come first, and
    among equals the LAST one wins, so that a correction replaces its draft: `fenced`, `unclosed_fence`. Usage and
    output behind the program define nothing and replace nothing: a block that only imports the entry point, takes it
    from a module, loops over it or binds it from itself or from names that it does not have (`f = cache(f)`,
    `for f in [f]`) counts where nothing else in the reply defines it. A decorator that comes in such a block is
    therefore not applied: the program runs as its own block has it.
    Of an unclosed block that does not parse as a whole, the longest stretch counts as under 4, but only if what is cut
    off is unindented and does not start like code, so that a cut program stays one: `unclosed_fence_in_prose`.
 3. Without such a block, the fenced blocks in lines quoted by ">": `quoted_fenced` and so on.
 4. Without those the reply itself, or the longest stretch of it from a line that starts like code, if it parses
    and defines the entry point: `bare`, `bare_in_prose`.
 5. A block or reply that defines no entry point but one class with a method of that name is called through an
    instance (`+method`); one with a single function of as many parameters is called by that name (`+renamed`).
    Parameters that are named otherwise are passed by position (`+positional`).
A byte order mark or zero-width characters in front of a program's first line are removed (`+invisible`). Blocks are
never joined, and nothing is ever repaired inside a program.
The work is bounded (see `parsing`): of a very long reply, fewer ways to read it are tried.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from proceval.scorer.offer import Candidate, Rank, Target, candidate, may_offer
from proceval.scorer.parsing import Parser
from proceval.scorer.reasoning import CODE_START, INVISIBLE, LANGUAGE, closes, fence_in, first_word, without_reasoning

MOST_CHARACTERS = 200_000
"""Replies beyond this, reasoning aside, are not read."""

_QUOTE = re.compile(r" {0,3}>")
_MOST_BLOCKS = 40
_MOST_CLOSINGS = 6


@dataclass(frozen=True)
class Extracted:
    """The program found, or None, and the rule that decided."""

    code: str | None
    rule: str
    closed: bool = True
    """False where the end of the program is also the end of the reply, so that it may have been cut short."""
    qualified: int = 0
    """How many blocks defined the entry point."""


@dataclass(frozen=True)
class Block:
    """The text between two fences, without invisible characters in front."""

    text: str
    closed: bool
    invisible: bool = False
    """Whether there were any."""


def extract(text: str, entry_point: str, parameters: Sequence[str]) -> Extracted:
    """The program in a reply that is asked to define `entry_point(parameters)`."""
    visible = without_reasoning(text.replace("\r\n", "\n").replace("\r", "\n"))
    if visible is None:
        return Extracted(None, "unclosed_reasoning", closed=False)
    if len(visible) > MOST_CHARACTERS:
        return Extracted(None, "too_long")
    if not visible.strip():
        return Extracted(None, "empty")
    target = Target(entry_point, tuple(parameters))
    parser = Parser(visible)
    use: Extracted | None = None
    for source in (_from_blocks, _from_quotes, _from_prose):
        found = source(visible, target, parser)
        if found and (use is None or found[0].rank < Rank.IMPORTED) and not found[0].is_use:
            return found[1]
        use = use or (found[1] if found else None)
    return use or Extracted(None, "no_entry_point")


def fenced_blocks(text: str, parser: Parser) -> list[Block]:
    """All fenced blocks in order. A lone fence behind bare text closes nothing and opens nothing."""
    lines = text.split("\n")
    fences = [(number, match) for number, line in enumerate(lines) if (match := fence_in(line))]
    if len(fences) == 1 and not fences[0][1]["info"] and not "".join(lines[fences[0][0] + 1 :]).strip():
        return []
    blocks: list[Block] = []
    position = 0
    while position < len(fences) and len(blocks) < _MOST_BLOCKS:
        start, opening = fences[position]
        first = [] if LANGUAGE.match(opening["info"]) else [opening["info"]]
        later = (i for i in range(position + 1, len(fences)) if closes(fences[i][1], opening))
        closings = list(islice(later, _MOST_CLOSINGS))
        if not closings:
            body = _dedent(first + lines[start + 1 :], opening["indent"])
            blocks.append(_block(_without_gluedfence_in(body), closed=False))
            break
        simple = len(closings) == 1 and closings[0] == position + 1 and not first
        bodies = (_block(_dedent(first + lines[start + 1 : fences[i][0]], opening["indent"])) for i in closings)
        nearest = next(bodies)
        chosen, block, failed = (0, nearest, False) if simple else _closed_block(nearest, bodies, parser)
        blocks += (fenced_blocks(block.text, parser) if failed else []) or [block]
        position = closings[chosen] + 1
    return blocks


def _closed_block(nearest: Block, farther: Iterator[Block], parser: Parser) -> tuple[int, Block, bool]:
    """At which of its possible ends a block parses, else the nearest; and whether that is known not to parse."""
    for number, block in enumerate(chain([nearest], farther)):
        parsed = parser.attempt(block.text, reserve=True)
        if parsed is None:
            return 0, nearest, number > 0
        if parsed.tree is not None:
            return number, block, False
    return 0, nearest, True


# ------------------------------------------------------------------------------------------------ fences


def _dedent(lines: list[str], indent: str) -> str:
    return "\n".join(line.removeprefix(indent) for line in lines)


def _block(body: str, *, closed: bool = True) -> Block:
    visible = _without_invisible(body)
    return Block(visible, closed, invisible=visible != body)


def _without_invisible(code: str) -> str:
    """Without byte order mark and zero-width characters in front of the first line that is not empty."""
    start = first_word(code, 0)
    return re.sub(f"[{INVISIBLE}]", "", code[:start]) + code[start:]


def _without_gluedfence_in(body: str) -> str:
    """Without the closing fence that stands behind the last line of code."""
    kept = body.rstrip()
    return kept.rstrip(kept[-1]).rstrip(" \t") if kept.endswith(("```", "~~~")) else body


def _without_quotes(text: str) -> str:
    """The quoted lines without their marks; a line that is not quoted is left empty, so that it ends no program."""
    lines = [line[mark.end() :] if (mark := _QUOTE.match(line)) else "" for line in text.split("\n")]
    space = " " if all(line.startswith(" ") for line in lines if line.strip()) else ""
    return "\n".join(line.removeprefix(space) for line in lines)


# ------------------------------------------------------------------------------------------------ candidates


_Found = tuple[Candidate, Extracted]


def _from_blocks(text: str, target: Target, parser: Parser) -> _Found | None:
    found: list[_Found] = []
    for block in fenced_blocks(text, parser):
        code = None if block.closed or not may_offer(block.text, target) else _before_prose(block.text, parser)
        made = candidate(block.text if code is None else code, target, parser)
        if made:
            rule = "fenced" if block.closed else "unclosed_fence" if code is None else "unclosed_fence_in_prose"
            named = rule + made.suffix + "+invisible" * block.invisible
            found.append((made, Extracted(made.code, named, closed=rule != "unclosed_fence")))
    if not found:
        return None
    best = min(made.rank for made, _ in found)
    made, chosen = [one for one in found if one[0].rank == best][-1]
    return made, replace(chosen, qualified=sum(other.is_use <= made.is_use for other, _ in found))


def _before_prose(body: str, parser: Parser) -> str | None:
    """The beginning that parses, if what follows it is there and is surely no code."""
    stretch = _stretch(body.split("\n"), parser)
    behind = body.split("\n")[stretch.count("\n") + 1 :] if stretch else []
    return stretch if behind and not _may_be_code(behind[0]) else None


def _may_be_code(line: str) -> bool:
    return line[:1].isspace() or bool(CODE_START.match(line))


def _from_quotes(text: str, target: Target, parser: Parser) -> _Found | None:
    found = _from_blocks(_without_quotes(text), target, parser) if ">" in text else None
    return (found[0], replace(found[1], rule="quoted_" + found[1].rule)) if found else None


def _from_prose(text: str, target: Target, parser: Parser) -> _Found | None:
    """The reply as it is, or the stretch from the first line that starts like code to the first that cannot be."""
    if not may_offer(text, target):
        return None
    visible = _without_invisible(text)
    lines = textwrap.dedent(visible).strip("\n").split("\n")
    starts = [0] + [n for n, line in enumerate(lines) if n and CODE_START.match(line.lstrip(INVISIBLE))][:10]
    use: _Found | None = None
    for attempt, start in enumerate(starts):
        first = lines[start].lstrip(INVISIBLE)
        stretch = _stretch([first, *lines[start + 1 :]], parser)
        made = candidate(stretch, target, parser) if stretch else None
        # Half of a program has one function often enough.
        if stretch and made and (made.rank < Rank.RENAMED or made.is_use or attempt < 2):
            behind = lines[start + stretch.count("\n") + 1 :]
            invisible = first != lines[start] if start else visible != text
            rule = ("bare_in_prose" if start or behind else "bare") + made.suffix + "+invisible" * invisible
            found = made, Extracted(made.code, rule, bool(behind) and not _may_be_code(behind[0]), 1)
            if not made.is_use:
                return found
            use = use or found
    return use


def _stretch(lines: list[str], parser: Parser) -> str | None:
    """The longest beginning that parses and does not end in a stray word."""
    end = len(lines)
    for _ in range(10):
        parsed = parser.attempt("\n".join(lines[:end]))
        if parsed is None:
            return None
        tree, line = parsed.tree, parsed.line
        if tree is None:
            if line is None or not 1 < line <= end:
                return None
            end = line - 1
            continue
        last = tree.body[-1] if tree.body else None
        if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Name)):
            return "\n".join(lines[:end]) if tree.body else None
        end = last.lineno - 1
    return None
