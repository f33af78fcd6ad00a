"""What the YAML files beside this one call: the rows, and the verdict on one completion."""

from collections.abc import Mapping, Sequence
from typing import Any

from proceval.errors import InputError
from proceval.interop.judge import Mode, read, verdict


def dataset(release: str | None = None, **_: Any) -> dict[str, Any]:
    """The rows of the release folder that --metadata names, as the split `test`."""
    if not release:
        raise InputError('no release: give --metadata \'{"release": "FOLDER"}\', the folder that stage=export wrote')
    import datasets

    return {"test": datasets.Dataset.from_list(list(read(release)))}


def judge_code(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    return _judged(doc, results, "code")


def judge_answer(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    return _judged(doc, results, "answer")


def _judged(doc: Mapping[str, Any], results: Sequence[str], mode: Mode) -> dict[str, float]:
    """A sandbox failure raises and ends the evaluation: it must not count as a wrong answer."""
    return {"passed": float(verdict(doc, results[0], mode=mode).outcome == "passed")}
