"""Rewards for reinforcement learning: 1.0 for a completion that passes, 0.0 for one that does not.

`reward` judges one; `code_reward` and `answer_reward` have the signature that TRL's trainers call (prompts and completions
as lists, the dataset's columns as keyword arguments).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proceval.errors import InputError, Unscored
from proceval.interop.judge import Mode, judge, verdict
from proceval.release.rows import PROBLEM

Text = str | Sequence[Mapping[str, Any]]
"""A completion: its text, or chat messages of which the last is the model's."""


def reward(problem_row: Mapping[str, Any], completion: Text, *, mode: Mode = "code") -> float:
    """1.0 or 0.0 for a completion of a published row.

    Raises errors.Unscored when the sandbox failed, which says nothing of the completion, InputError for a strange row.
    """
    return float(verdict(problem_row, text_of(completion), mode=mode).outcome == "passed")


def code_reward(prompts: Any, completions: Sequence[Text], **columns: Any) -> list[float | None]:
    """One reward a completion, for programs; None where the sandbox failed, which TRL leaves out of the mean.

    What is neither text nor messages is worth 0.0, and no reason to lose the batch.
    """
    return _rewards("code", completions, columns)


def answer_reward(prompts: Any, completions: Sequence[Text], **columns: Any) -> list[float | None]:
    """The same for answers to the row's instance."""
    return _rewards("answer", completions, columns)


def text_of(completion: Text) -> str:
    """The model's own words. Raises InputError for what is neither text nor messages."""
    if isinstance(completion, str):
        return completion
    try:
        said = completion[-1]["content"]
    except (IndexError, KeyError, TypeError) as error:
        raise InputError("a completion is a text or a list of messages with role and content") from error
    return said if isinstance(said, str) else ""


def _said(completion: Text) -> str:
    """The completion's text, empty for what is none: a model's fault and not the batch's."""
    try:
        return text_of(completion)
    except InputError:
        return ""


def _rewards(mode: Mode, completions: Sequence[Text], columns: Mapping[str, Any]) -> list[float | None]:
    missing = [name for name in PROBLEM if name not in columns]
    if missing:
        raise InputError(f"the reward needs the columns of the release; missing: {', '.join(missing)}")
    held = judge(mode)
    asked = [
        held.ask({name: columns[name][place] for name in PROBLEM}, _said(completion))
        for place, completion in enumerate(completions)
    ]
    found: list[float | None] = []
    for future in asked:
        try:
            found.append(float(future.result().outcome == "passed"))
        except Unscored:
            found.append(None)
    return found
