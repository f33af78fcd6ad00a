"""Which part of a reply is the program: line by line, by rules that are written down and recorded.

In this order:
 1. Reasoning is not an answer. `<think>...</think>` goes, before the code or after it, and only that stretch; a closing
    tag without any opening one (which the chat template held) discards all that is before it. A tag next to a quote or
    a backtick, or inside a fence, is data. A reply that starts with an opening tag that is never closed leaves no
    answer: `unclosed_reasoning`. Only what is left then counts against the length cap: `too_long`.
 2. Fenced blocks: three or more backticks or tildes, closed by at least as many; an unclosed one runs to the end. Words
    behind the opening fence are a language tag only when they look like one; otherwise they are the first line of code.
    Words behind a closing fence ("``` This works.") are prose, unless they look like a language tag or like code.
    A fence inside a docstring does not end a block that would not parse there. A block that holds fences of its own is
    opened. Of several blocks only those count that define the entry point; of these, those that parse come first, and
    among equals the LAST one wins, so that a correction replaces its draft: `fenced`, `unclosed_fence`. Usage and
    output behind the program define nothing and replace nothing.
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
"""

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

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
    found = _from_blocks(visible, target) or _from_quotes(visible, target) or _from_prose(visible, target)
    return found or Extracted(None, "no_entry_point")


def fenced_blocks(text: str) -> list[Block]:
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
        blocked = [_block(_dedent(first + lines[start + 1 : fences[i][0]], opening["indent"])) for i in closings]
        if not closings:
            body = _dedent(first + lines[start + 1 :], opening["indent"])
            blocks.append(_block(_without_gluedfence_in(body), closed=False))
            break
        chosen = next((n for n, block in enumerate(blocked) if parse(block.text) is not None), 0)
        inner = fenced_blocks(blocked[chosen].text) if parse(blocked[chosen].text) is None else []
        blocks += inner or [blocked[chosen]]
        position = closings[chosen] + 1
    return blocks


def parse(code: str) -> ast.Module | None:
    """The syntax tree, or None; nothing of it is run."""
    return _parse(code)[0]


def _parse(code: str) -> tuple[ast.Module | None, int | None]:
    """The tree, or the 1-based line of the first error where it is known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code), None
    except SyntaxError as error:
        return None, error.lineno
    except (ValueError, RecursionError, MemoryError):  # NUL characters, nesting beyond the parser's depth
        return None, None


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


@dataclass(frozen=True)
class Target:
    """What the program is asked to define."""

    entry_point: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """A program that offers the entry point; lower `rank` is better."""

    rank: int
    code: str
    suffix: str


def _from_blocks(text: str, target: Target) -> Extracted | None:
    found: list[tuple[Candidate, Extracted]] = []
    for block in fenced_blocks(text):
        code = None if block.closed else _before_prose(block.text)
        made = _candidate(block.text if code is None else code, target)
        if made:
            rule = "fenced" if block.closed else "unclosed_fence" if code is None else "unclosed_fence_in_prose"
            named = rule + made.suffix + "+invisible" * block.invisible
            found.append((made, Extracted(made.code, named, closed=rule != "unclosed_fence")))
    if not found:
        return None
    best = min(made.rank for made, _ in found)
    return replace([chosen for made, chosen in found if made.rank == best][-1], qualified=len(found))


def _before_prose(body: str) -> str | None:
    """The beginning that parses, if what follows it is there and is surely no code."""
    stretch = _stretch(body.split("\n"))
    behind = body.split("\n")[stretch.count("\n") + 1 :] if stretch else []
    return stretch if behind and not _may_be_code(behind[0]) else None


def _may_be_code(line: str) -> bool:
    return line[:1].isspace() or bool(CODE_START.match(line))


def _from_quotes(text: str, target: Target) -> Extracted | None:
    found = _from_blocks(_without_quotes(text), target) if ">" in text else None
    return replace(found, rule="quoted_" + found.rule) if found else None


def _from_prose(text: str, target: Target) -> Extracted | None:
    """The reply as it is, or the stretch from the first line that starts like code to the first that cannot be."""
    visible = _without_invisible(text)
    lines = textwrap.dedent(visible).strip("\n").split("\n")
    starts = [0] + [n for n, line in enumerate(lines) if n and CODE_START.match(line.lstrip(INVISIBLE))][:10]
    for attempt, start in enumerate(starts):
        first = lines[start].lstrip(INVISIBLE)
        stretch = _stretch([first, *lines[start + 1 :]])
        made = _candidate(stretch, target) if stretch else None
        if stretch and made and (made.rank < 3 or attempt < 2):  # half of a program has one function often enough
            behind = lines[start + stretch.count("\n") + 1 :]
            invisible = first != lines[start] if start else visible != text
            rule = ("bare_in_prose" if start or behind else "bare") + made.suffix + "+invisible" * invisible
            return Extracted(made.code, rule, bool(behind) and not _may_be_code(behind[0]), 1)
    return None


def _stretch(lines: list[str]) -> str | None:
    """The longest beginning that parses and does not end in a stray word."""
    end = len(lines)
    for _ in range(10):
        tree, line = _parse("\n".join(lines[:end]))
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


def _candidate(code: str, target: Target) -> Candidate | None:
    tree = parse(code)
    if tree is None:
        name = re.escape(target.entry_point)
        defines = re.search(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{name}[ \t]*\(", code, re.MULTILINE)
        return Candidate(2, code, "+unparsable") if defines else None
    statements = list(_top_level(tree.body))
    functions = [s for s in statements if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = [f for f in functions if f.name == target.entry_point]
    if named:
        return _bridged(Candidate(0, code, ""), named[-1].args, 0, target, target.entry_point)
    if any(target.entry_point in _names(s) for s in statements):
        return Candidate(0, code, "")
    methods = [
        (c.name, m)
        for c in statements
        if isinstance(c, ast.ClassDef)
        for m in c.body
        if isinstance(m, ast.FunctionDef) and m.name == target.entry_point
    ]
    if len(methods) == 1:
        owner, method = methods[0]
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
        made = Candidate(1, code, "+method")
        return _bridged(made, method.args, 0 if static else 1, target, f"{owner}().{target.entry_point}")
    alike = [f for f in functions if len(f.args.posonlyargs + f.args.args) == len(target.parameters)]
    if len(alike) == 1 and not alike[0].name.startswith(("_", "test")) and alike[0].name != "main":
        return _bridged(Candidate(3, code, "+renamed"), alike[0].args, 0, target, alike[0].name)
    return None


def _bridged(made: Candidate, args: ast.arguments, bound: int, target: Target, callee: str) -> Candidate:
    """Append what makes the entry point callable by the names that the task gives; nothing above it changes."""
    names = [a.arg for a in (args.posonlyargs + args.args)[bound:]]
    keywords = [a.arg for a in args.args + args.kwonlyargs]
    by_name = args.kwarg is not None or all(p in keywords for p in target.parameters)
    wanted = ", ".join(target.parameters)
    if not by_name and (args.vararg or len(names) - len(args.defaults) <= len(target.parameters) <= len(names)):
        bridge = f"{target.entry_point} = (lambda call: lambda {wanted}: call({wanted}))({callee})"
        return Candidate(made.rank, f"{made.code}\n\n{bridge}\n", made.suffix + "+positional")
    if callee != target.entry_point:
        return Candidate(made.rank, f"{made.code}\n\n{target.entry_point} = {callee}\n", made.suffix)
    return made


def _top_level(body: Sequence[ast.stmt], depth: int = 20) -> Iterator[ast.stmt]:
    """Statements that run when the module does, also under if, try, with and loops; not a `__main__` guard."""
    for statement in body:
        yield statement
        if depth == 0 or isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(statement, ast.If) and _is_guard(statement.test):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _top_level(getattr(statement, part, []), depth - 1)
        for handler in getattr(statement, "handlers", []):
            yield from _top_level(handler.body, depth - 1)


def _is_guard(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == "__main__" for node in ast.walk(test))


def _names(statement: ast.stmt) -> set[str]:
    """Names that a statement binds in its module, function definitions aside."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.ClassDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {node.id for t in targets if t is not None for node in ast.walk(t) if isinstance(node, ast.Name)}
