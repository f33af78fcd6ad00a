"""Prompts: what the model sees, byte for byte, and what a user may change about it."""

from pathlib import Path

import pytest

from proceval.errors import InputError
from tests.arena import problem, solve

CODE = """\
Write a Python function `scaled_sum(values, factor)`.

Return the sum of `values`, a list of integers, times the integer `factor`.

Examples:

```python
scaled_sum(values=[1, 2], factor=2)
# returns 6

scaled_sum(values=[4], factor=2)
# returns 8
```

Reply with one fenced Python block that holds the whole program: imports, helpers and the function `scaled_sum`, with \
exactly these parameter names. Only the standard library is available. The function is called with keyword arguments and \
must return its result; what it prints is ignored.
"""

ANSWER = """\
Work out what `scaled_sum(values, factor)` returns for one input.

Return the sum of `values`, a list of integers, times the integer `factor`.

Examples:

values = [1, 2]
factor = 2
ANSWER: 6

values = [4]
factor = 2
ANSWER: 8

The input:

values = [918000, 7]
factor = 2

Reply with your reasoning if you wish, and end with one line `ANSWER: ` followed by the result as JSON, exactly as in \
the examples.
"""


@pytest.mark.parametrize(("mode", "text"), [("code", CODE), ("answer", ANSWER)])
def test_the_prompt_is_this(mode: str, text: str) -> None:
    (message,) = solve(mode).prompt(problem(0))
    assert (message.role, message.content) == ("user", text)


def test_the_main_instance_is_in_the_answer_prompt_alone() -> None:
    same = problem(0).model_copy(update={"arguments": {"values": [5], "factor": 2}, "expected": 10, "id": "other"})
    assert solve("code").prompt(problem(0)) == solve("code").prompt(same)
    assert solve("answer").prompt(problem(0)) != solve("answer").prompt(same)


def test_system_prompt_and_given_messages_come_first() -> None:
    chat = [{"role": "user", "content": "Ready?"}, {"role": "assistant", "content": "Yes."}]
    roles = [m.role for m in solve("code", system_prompt="Be brief.", messages=chat).prompt(problem(0))]
    assert roles == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize(
    ("chat", "place"),
    [
        ([{"role": "assistant", "content": "x"}], "0"),
        ([{"role": "user", "content": "x"}], "must end with the assistant"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "text": "y"}], "1"),
    ],
)
def test_given_messages_out_of_place_are_named(chat: list[dict[str, str]], place: str) -> None:
    with pytest.raises(InputError, match=rf"track\.messages.*{place}"):
        solve("code", messages=chat)


def test_an_own_template_is_used_and_checked(tmp_path: Path) -> None:
    own = tmp_path / "own.md"
    own.write_text("Define $entry_point($parameters) for $$5.\n$statement\n$examples")
    text = solve("code", template=str(own)).prompt(problem(0))[0].content
    assert text.startswith("Define scaled_sum(values, factor) for $5.\nReturn the sum")
    for spoiled in ("$statement $expected", "no task in here", "$statement costs 5$"):
        own.write_text(spoiled)
        with pytest.raises(InputError, match=r"track\.template="):
            solve("code", template=str(own))
    with pytest.raises(InputError, match="none"):
        solve("code", template=str(tmp_path / "none.md"))
