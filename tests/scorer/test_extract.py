"""Every form in which a program comes: what is found must work, and the rule that found it must be named."""

import ast

import pytest

from proceval.scorer import parsing
from proceval.scorer.extract import MOST_CHARACTERS, extract

GOOD = "def double(x):\n    return 2 * x"
DRAFT = "def double(x):\n    return x"
USE = "from solution import double\n"


def fenced(code: str, *, fence: str = "```", tag: str = "python") -> str:
    return f"{fence}{tag}\n{code}\n{fence}\n"


WORKS = {
    "one block": (fenced(GOOD), "fenced"),
    "no tag": (fenced(GOOD, tag=""), "fenced"),
    "capital tag with number": (fenced(GOOD, tag="Python 3"), "fenced"),
    "attribute list": (fenced(GOOD, tag="{.python .numberLines}"), "fenced"),
    "title": (fenced(GOOD, tag='python title="a.py"'), "fenced"),
    "file name": (fenced(GOOD, tag="python solution.py"), "fenced"),
    "tildes": (fenced(GOOD, fence="~~~"), "fenced"),
    "four backticks": (fenced(GOOD, fence="````"), "fenced"),
    "windows line ends": (fenced(GOOD).replace("\n", "\r\n"), "fenced"),
    "prose around": ("Here:\n" + fenced(GOOD) + "It doubles.\n", "fenced"),
    "plan, program, output": (
        "Idea:\n" + fenced("use a set", tag="text") + fenced(GOOD) + "Output:\n" + fenced("3", tag=""),
        "fenced",
    ),
    "draft, then the better one": (fenced(DRAFT) + "No, wait:\n" + fenced(GOOD), "fenced"),
    "usage after the program": (fenced(GOOD) + "Use it:\n" + fenced("print(double(2))"), "fenced"),
    "broken repetition after the program": (
        fenced(GOOD) + fenced("def double(x):\n    ..."[:-4] + "return 2 *"),
        "fenced",
    ),
    "indented in a list": ("1. this\n\n   ```python\n   def double(x):\n       return 2 * x\n   ```\n", "fenced"),
    "inside a longer fence": ("````markdown\nSee\n" + fenced(GOOD) + "````\n", "fenced"),
    "fence inside a docstring": (
        fenced('def double(x):\n    """Doubles.\n\n    ```\n    double(1)\n    ```\n    """\n    return 2 * x'),
        "fenced",
    ),
    "unclosed fence": ("```python\n" + GOOD, "unclosed_fence"),
    "closing fence glued to the code": ("```python\n" + GOOD + "```", "unclosed_fence"),
    "tag that is code": ("```def double(x):\n    return 2 * x\n```", "fenced"),
    "words behind the closing fence": ("```python\n" + GOOD + "\n``` This works.\n\nIt is linear.\n", "fenced"),
    "one word behind the closing fence": ("```python\n" + GOOD + "\n``` Done.\n", "fenced"),
    "words behind the closing fence, then usage": (
        "```python\n" + GOOD + "\n``` Use it so:\n" + fenced("print(double(2))"),
        "fenced",
    ),
    "unclosed fence, then prose": ("```python\n" + GOOD + "\n\nThis doubles its input.\n", "unclosed_fence_in_prose"),
    "unclosed fence, then one word": ("```python\n" + GOOD + "\n\nDone\n", "unclosed_fence_in_prose"),
    "unclosed fence, then prose, behind a draft": (
        fenced(DRAFT) + "No:\n```python\n" + GOOD + "\n\nIt's right now.\n- O(1)\n",
        "unclosed_fence_in_prose",
    ),
    "byte order mark": ("\ufeff" + GOOD, "bare+invisible"),
    "byte order mark before the fence": ("\ufeff" + fenced(GOOD), "fenced"),
    "zero-width space in a block": (fenced("\u200b" + GOOD), "fenced+invisible"),
    "zero-width space in prose": ("Here:\n\n\u200b" + GOOD + "\n\nThat is all.", "bare_in_prose+invisible"),
    "zero-width space in a string stays": (fenced(GOOD + "\n\nassert len('\u200b') == 1"), "fenced"),
    "quoted fence": (
        "My answer:\n\n> ```python\n> def double(x):\n>     return 2 * x\n>\n> ```\nIt doubles.",
        "quoted_fenced",
    ),
    "quoted fence without spaces": (">```python\n>def double(x):\n>    return 2 * x\n>```\n", "quoted_fenced"),
    "tag in prose, its end in a docstring": (
        "I use <think> here.\n" + fenced('def double(x):\n    """\n    </think>\n    """\n    return 2 * x'),
        "fenced",
    ),
    "quoted draft, then the program": (
        "> ```\n> def double(x):\n>     return x\n> ```\nNo:\n" + fenced(GOOD),
        "fenced",
    ),
    "bare": (GOOD, "bare"),
    "bare with an import": ("import math\n\n" + GOOD, "bare"),
    "bare, then a lone closing fence": (GOOD + "\n```\n", "bare_in_prose"),
    "bare, then prose": (GOOD + "\n\nThis doubles its input.\n", "bare_in_prose"),
    "bare, then one word": (GOOD + "\n\nDone\n", "bare_in_prose"),
    "prose, bare, prose": ("Sure, here you are.\n\n" + GOOD + "\n\nThat is all.\n", "bare_in_prose"),
    "bare and indented": ("    def double(x):\n        return 2 * x\n", "bare"),
    "reasoning": ("<think>\n" + fenced(DRAFT) + "</think>\n" + fenced(GOOD), "fenced"),
    "reasoning opened by the template": ("maybe\n" + fenced(DRAFT) + "no, twice\n</think>\n" + fenced(GOOD), "fenced"),
    "unclosed draft in the reasoning": ("try\n```python\n" + DRAFT + "\n</think>\n" + fenced(GOOD), "fenced"),
    "reasoning twice": ("<think>a</think><think>b</think>" + fenced(GOOD), "fenced"),
    "reasoning behind the program": (fenced(GOOD) + "<think>is it right? yes</think>\n", "fenced"),
    "draft in the reasoning behind the program": (
        fenced(GOOD) + "<think>\nor\n```python\n" + DRAFT + "\n</think>\nDone.",
        "fenced",
    ),
    "reasoning before and behind": ("<think>a</think>" + fenced(GOOD) + "<think>b <think>c</think></think>", "fenced"),
    "reasoning opened by the template, and more behind": (
        fenced(DRAFT) + "</think>\n" + fenced(GOOD) + "<think>" + fenced(DRAFT) + "</think>",
        "fenced",
    ),
    "reasoning longer than the cap": ("<think>" + "x" * MOST_CHARACTERS + "</think>\n" + fenced(GOOD), "fenced"),
    "reasoning longer than the cap, opened by the template": (
        "x" * MOST_CHARACTERS + "\n</think>\n" + fenced(GOOD),
        "fenced",
    ),
    "quoted tag in the program": (fenced("TAG = '</think>'\n" + GOOD), "fenced"),
    "tag in a docstring": (fenced('def double(x):\n    """\n    </think>\n    """\n    return 2 * x'), "fenced"),
    "quoted tag in prose": ("Unlike `<think>` models:\n" + fenced(GOOD), "fenced"),
    "stray opening tag behind": (fenced(GOOD) + "\n<think>\nmore", "fenced"),
    "assignment": (fenced("double = lambda x: 2 * x"), "fenced"),
    "under a condition": (fenced("import sys\nif sys.maxsize:\n    def double(x):\n        return 2 * x"), "fenced"),
    "under try": (
        fenced("try:\n    import nothing_here\nexcept ImportError:\n    def double(x):\n        return 2 * x"),
        "fenced",
    ),
    "__main__ guard": (fenced(GOOD + '\n\nif __name__ == "__main__":\n    raise SystemExit(double(1))'), "fenced"),
    "method": (fenced("class Solution:\n    def double(self, x):\n        return 2 * x"), "fenced+method"),
    "static method": (
        fenced("class Solution:\n    @staticmethod\n    def double(x):\n        return 2 * x"),
        "fenced+method",
    ),
    "method with its own names": (
        fenced("class Solution:\n    def double(self, n: int) -> int:\n        return 2 * n"),
        "fenced+method+positional",
    ),
    "own parameter name": (fenced("def double(n):\n    return 2 * n"), "fenced+positional"),
    "positional only": (fenced("def double(x, /):\n    return 2 * x"), "fenced+positional"),
    "any arguments": (fenced("def double(*args):\n    return 2 * args[0]"), "fenced+positional"),
    "any keywords": (fenced("def double(**given):\n    return 2 * given['x']"), "fenced"),
    "more parameters with defaults": (fenced("def double(x, times=2):\n    return times * x"), "fenced"),
    "another name": (fenced("def solve(x):\n    return 2 * x"), "fenced+renamed"),
    "another name beside a helper": (
        fenced("def add(a, b):\n    return a + b\n\ndef solve(x):\n    return add(x, x)"),
        "fenced+renamed",
    ),
    "walrus and match": (
        fenced("def double(x):\n    match x:\n        case y if (z := y):\n            return 2 * z\n    return 0"),
        "fenced",
    ),
    "usage that imports it": (fenced(GOOD) + "Usage:\n" + fenced(USE + "print(double(2))"), "fenced"),
    "tests that import it": (
        fenced(GOOD)
        + fenced(f"import unittest\n{USE}class T(unittest.TestCase):\n    def test_it(self):\n        double(1)"),
        "fenced",
    ),
    "usage that loops over it": (fenced(GOOD) + fenced("for double in [double]:\n    print(double(2))"), "fenced"),
    "usage that enters with it": (fenced(GOOD) + fenced("with timed(double) as double:\n    double(2)"), "fenced"),
    "usage that wraps it": (fenced(GOOD) + fenced("import functools\ndouble = functools.cache(double)"), "fenced"),
    "usage through a module": (fenced(GOOD) + fenced("import solution\ndouble = solution.double"), "fenced"),
    "usage through an imported class": (
        fenced(GOOD) + fenced("from solution import Solution\ndouble = Solution().double"),
        "fenced",
    ),
    "usage through a name of another block": (fenced(GOOD) + fenced("double = fast_double"), "fenced"),
    "usage that stores beside it": (fenced(GOOD) + fenced("double.calls = 0\nknown[double] = 1"), "fenced"),
    "its type alone": (fenced(GOOD) + fenced("double: Callable[[int], int]"), "fenced"),
    "usage of a method": (
        fenced("class Solution:\n    def double(self, x):\n        return 2 * x")
        + fenced("double = Solution().double"),
        "fenced+method",
    ),
    "usage of a function by another name": (
        fenced("def solve(x):\n    return 2 * x") + fenced("double = solve\nprint(double(2))"),
        "fenced+renamed",
    ),
    "bare, then usage that imports it": (GOOD + "\n\nUsage:\n" + fenced(USE + "double(2)"), "bare_in_prose"),
    "usage in prose, then bare": (USE + "is how it is used.\n\n" + GOOD, "bare_in_prose"),
    "quoted, then usage that imports it": (
        "> ```\n> def double(x):\n>     return 2 * x\n> ```\n" + fenced(USE + "double(2)"),
        "quoted_fenced",
    ),
    "program that wraps itself": (fenced(f"import functools\n{GOOD}\n\ndouble = functools.cache(double)"), "fenced"),
    "alias of a helper in the block": (
        fenced(DRAFT) + fenced("def helper(x):\n    return 2 * x\n\ndouble = helper"),
        "fenced",
    ),
    "method bound in the block": (
        fenced(DRAFT) + fenced("class A:\n    def double(self, x):\n        return 2 * x\n\ndouble = A().double"),
        "fenced",
    ),
    "lambda that calls itself, after a draft": (
        fenced(DRAFT) + fenced("double = lambda x: 2 + double(x - 1) if x else 0"),
        "fenced",
    ),
    "wrapped lambda, after a draft": (
        fenced(DRAFT) + fenced("import functools\ndouble = functools.cache(lambda x: double(x - 1) + 2 if x else 0)"),
        "fenced",
    ),
    "comprehension over its own name, after a draft": (
        fenced(DRAFT) + fenced("double = [double for double in [lambda x: 2 * x]][0]"),
        "fenced",
    ),
    "reasoning that ends behind a code mark": ("<think>\nuse `sum`</think>\n" + fenced(GOOD), "fenced"),
    "reasoning that ends behind a quotation": ('<think>\nis "yes"</think>  \n' + GOOD, "bare"),
    "reasoning that ends behind a fence": ("<think>\n" + fenced(DRAFT)[:-1] + "</think>\n" + fenced(GOOD), "fenced"),
    "reasoning that ends between a code mark and a fence": ("<think>\nuse `sum`</think>" + fenced(GOOD), "fenced"),
    "reasoning that ends behind a code mark in a draft": (
        "<think>\n```python\ndef double(x): return x\nor `x`</think>\n" + fenced(GOOD),
        "fenced",
    ),
    "reasoning opened by the template that ends behind a code mark": (
        fenced(DRAFT) + "no, `2 * x`</think>\n" + GOOD,
        "bare",
    ),
    "reasoning that ends behind a code mark, and more behind the program": (
        "<think>\nuse `sum`</think>\n" + fenced(GOOD) + "<think>right?</think>\n",
        "fenced",
    ),
    "reasoning that ends behind a code mark, then more": (
        "<think>\nuse `sum`</think>\n<think>right</think>\n" + fenced(GOOD),
        "fenced",
    ),
    "reasoning behind the program that ends behind a fence": (
        fenced(GOOD) + "<think>\nor\n" + fenced(DRAFT)[:-1] + "</think>\n" + fenced("double(2)"),
        "fenced",
    ),
}

NOTHING = {
    "empty": ("", "empty"),
    "spaces": (" \n\t\n", "empty"),
    "prose": ("The function should double its argument.", "no_entry_point"),
    "reasoning never closed": ("<think>\n" + fenced(GOOD), "unclosed_reasoning"),
    "a quoted closing tag in the reasoning": (
        '<think>\nthe tag "</think>" ends it.\n' + fenced(GOOD),
        "unclosed_reasoning",
    ),
    "half a quoted closing tag": ('<think>\nthe tag "</think>\nends it.\n' + fenced(GOOD), "unclosed_reasoning"),
    "a closing tag behind a quotation in a line": (
        '<think>\n"a"</think> is it.\n' + fenced(GOOD),
        "unclosed_reasoning",
    ),
    "a closing tag behind a quotation in a fence": (
        "<think>\n" + fenced('<a b="c"</think>', tag="xml") + fenced(GOOD),
        "unclosed_reasoning",
    ),
    "reasoning that ends behind a code mark, then more": (
        "<think>\nuse `sum`</think>\n<think>\n" + fenced(GOOD),
        "unclosed_reasoning",
    ),
    "only in the reasoning": ("<think>\n" + fenced(GOOD) + "</think>\nIt doubles.", "no_entry_point"),
    "one-line fence": ("```def double(x): return 2 * x```", "no_entry_point"),
    "two other names": (fenced("def f(x):\n    return x\n\ndef g(x):\n    return 2 * x"), "no_entry_point"),
    "a test of it": (fenced("def test_double(x):\n    assert double(x)"), "no_entry_point"),
    "only under the guard": (
        fenced('if __name__ == "__main__":\n    def double(x):\n        return 2 * x'),
        "no_entry_point",
    ),
    "banana": ("banana", "no_entry_point"),
    "discarded by a closing tag alone": (fenced(GOOD) + "</think>\nSo that is it.", "no_entry_point"),
    "quoted words": ("> def double(x):\n>     return 2 * x\n", "no_entry_point"),
    "too long": ("x" * (MOST_CHARACTERS + 1), "too_long"),
    "a NUL": (fenced(GOOD + "\x00"), None),
    "nested too deeply": (fenced("double = " + "(" * 5000 + ")" * 5000), "no_entry_point"),
    "endless elif": (fenced("if 0: pass\n" + "elif 0: pass\n" * 9000), None),
    "many signs": (fenced("double = " + "-" * 50_000 + "1"), None),
}


@pytest.mark.parametrize("name", WORKS)
def test_program_found_works(name: str) -> None:
    reply, rule = WORKS[name]
    found = extract(reply, "double", ["x"])
    assert found.rule == rule
    assert found.code is not None
    namespace: dict[str, object] = {"__name__": "guest"}
    exec(compile(found.code, "reply", "exec"), namespace)
    assert namespace["double"](x=21) == 42  # type: ignore[operator]
    assert namespace.get("TAG", "</think>") == "</think>"


@pytest.mark.parametrize("name", NOTHING)
def test_no_program_is_said_and_never_raises(name: str) -> None:
    reply, rule = NOTHING[name]
    found = extract(reply, "double", ["x"])
    assert rule is None or (found.code, found.rule) == (None, rule)


def test_number_of_qualifying_blocks_is_recorded() -> None:
    assert extract(fenced(DRAFT) + fenced(GOOD) + fenced("3", tag=""), "double", ["x"]).qualified == 2


def test_broken_program_is_handed_on_so_that_its_syntax_error_shows() -> None:
    found = extract(fenced("def double(x)\n    return 2 * x"), "double", ["x"])
    assert found.rule == "fenced+unparsable"
    assert found.code is not None


@pytest.mark.parametrize("rest", ["    for y in (", "def more(", "    print('"])
def test_cut_program_is_not_rescued_from_its_unclosed_fence(rest: str) -> None:
    found = extract(f"```python\n{GOOD}\n{rest}", "double", ["x"])
    assert (found.rule, found.closed) == ("unclosed_fence+unparsable", False)


@pytest.mark.parametrize("rest", ["    for y in (", "def more("])
def test_bare_program_cut_in_its_code_may_have_been_cut_short(rest: str) -> None:
    assert extract(f"{GOOD}\n{rest}", "double", ["x"]).closed is False
    assert extract(f"{GOOD}\n\nIt is right.", "double", ["x"]).closed is True


@pytest.mark.parametrize(("reply", "closed"), [(fenced(GOOD), True), ("```\n" + GOOD, False), (GOOD, False)])
def test_what_may_have_been_cut_short_is_marked(reply: str, closed: bool) -> None:
    assert extract(reply, "double", ["x"]).closed is closed


def test_several_parameters_are_passed_in_order() -> None:
    found = extract(fenced("def minus(first, second):\n    return first - second"), "minus", ["a", "b"])
    namespace: dict[str, object] = {}
    assert found.code is not None
    exec(found.code, namespace)
    assert namespace["minus"](b=1, a=10) == 9  # type: ignore[operator]


@pytest.mark.parametrize(
    "filler",
    [
        "```\n",
        "~~~\n```\n",
        "<think>",
        "</think>\n",
        "a<think>",
        "</think><think>",
        "<think>a</think>",
        "```python\n</think>\n",
        "def double(x):\n",
        "    ```python\n",
        "`" * 50 + "\n",
        "> ```\n",
        "```\n" + "`" * 90_000 + "x\n",
        "<think>x`</think>\n",
        "<think>x`</think>\n<think>",
        "<think><think></think>",
        "``` a" + " " * 90_000 + "b\n",
        "```" + " {}" * 40 + " x\n",
        "\u200b",
    ],
)
def test_hostile_repetition_is_read_in_reasonable_work(filler: str) -> None:
    """A reply of 200,000 characters made of one line: linear or bounded work, else this test takes minutes."""
    extract(filler * (MOST_CHARACTERS // len(filler)), "double", ["x"])


@pytest.mark.parametrize("code", ["from math import gcd", "import math\ngcd = math.gcd", "gcd = undefined_here"])
def test_a_block_that_only_takes_the_entry_point_from_elsewhere_counts_where_nothing_else_does(code: str) -> None:
    found = extract(fenced(code) + "Output:\n" + fenced("3", tag=""), "gcd", ["a", "b"])
    assert (found.code, found.rule, found.qualified) == (code, "fenced", 1)
    assert extract(fenced("def gcd(a, b):\n    return a") + fenced(code), "gcd", ["a", "b"]).qualified == 1


LOOP = "x = [1, 2, 3]\n"
TWO = "def g(x, y):\n    return x\n"


def filled(head: str, tail: str, line: str = LOOP) -> str:
    return head + line * ((MOST_CHARACTERS - len(head) - len(tail)) // len(line)) + tail


ENDLESS = {
    "fence": filled(f"```python\n{TWO}", "x = (\n```\n"),
    "fence, dense": filled(f"```python\n{TWO}", "x y\n```\n", "a\n"),
    "fence, other letters": filled(f"```python\n{TWO}", "x y\n```\n", "\u00e9\n"),
    "a program of something else": filled(f"```python\n{TWO}", "```\n"),
    "unclosed fence": filled(f"```python\n{TWO}", "x y\n"),
    "unclosed brackets": filled(f"```python\n{TWO}", "x = (\n" * 30),
    "bare": filled(TWO, "x y\n"),
    "quoted": filled(f"> ```\n> {TWO}", "> x y\n> ```\n", "> x = [1, 2, 3]\n"),
    "many ends": filled(f"```\n{TWO}", "x = (\n" + "```\n" * 20),
    "ends far away": filled(
        "".join(f"{'~' * n}\nx y\n{'~' * n}\n" for n in range(60, 20, -1)) + TWO, ("~" * 99 + "\n") * 8
    ),
    "fences in fences": filled(
        "".join("`" * n + "\n" for n in range(150, 3, -1)) + TWO, "".join("`" * n + "\n" for n in range(3, 150))
    ),
    "one long line": f"```\ndef g(x, y): return [{'1,' * 99_000}1] 2\n```",
    "error at the start of a long statement": "a = b\n" * 11 + f"def g(x, y): 0\n(f(), {'a,' * 99_000}) = 1\n",
    "starts": filled("", "x =", TWO),
}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each parse was given."""
    read: list[int] = []
    parse = ast.parse

    def counted(code: str, *rest: str) -> ast.Module:
        read.append(len(code))
        return parse(code, *rest)

    monkeypatch.setattr(parsing.ast, "parse", counted)
    return read


@pytest.mark.parametrize("name", ENDLESS)
def test_no_reply_is_parsed_more_than_a_few_times(name: str, parsed: list[int]) -> None:
    """An endless repetition that the token limit cut: parsed 34 times and more, it held up the loop for seconds."""
    assert len(ENDLESS[name]) <= MOST_CHARACTERS
    extract(ENDLESS[name], "double", ["x"])
    assert sum(parsed) <= 3 * MOST_CHARACTERS
    assert len(parsed) <= 40


def test_a_text_that_can_offer_nothing_is_not_parsed(parsed: list[int]) -> None:
    assert extract(filled("```python\n", "x = (\n```\n"), "double", ["x"]).rule == "no_entry_point"
    assert not parsed


def test_a_program_behind_a_long_draft_is_found_whatever_the_draft_costs() -> None:
    reply = filled("```\n" + TWO, "x = (\n```\n" + fenced(GOOD))
    assert extract(reply, "double", ["x"]).code == GOOD


def test_no_warning_about_a_reply_reaches_the_terminal(recwarn: pytest.WarningsRecorder) -> None:
    assert extract(fenced(GOOD + "\n\nPATTERN = '\\d'\nONE = 1if 1else 0"), "double", ["x"]).rule == "fenced"
    assert not recwarn.list
