"""A release as an Inspect AI task: `inspect eval proceval/interop/inspect_ai.py -T release=FOLDER --model ...`."""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from proceval.interop.judge import FinishReason, Mode, averdict, judge, read

_ENDED: dict[str, FinishReason] = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}


@task
def proceval(release: str, mode: Mode = "code", limit: int | None = None) -> Task:
    """The problems of a release folder as programs (`mode=code`) or as answers (`mode=answer`).

    In code mode the problems of a family share one prompt: the standard error is clustered by family.
    """
    judge(mode)  # here, so that a broken sandbox is noticed before a model is asked
    samples = [
        Sample(
            id=row["id"],
            input=row[f"prompt_{mode}"],
            target=row["expected"],
            metadata={"row": row, "family": row["family"], "domain": row["domain"], "difficulty": row["difficulty"]},
        )
        for row in read(release)
    ]
    verdicts = proved_code() if mode == "code" else proved_answer()
    return Task(
        dataset=MemoryDataset(samples[:limit], name="proceval"),
        solver=generate(),
        scorer=verdicts,
        name=f"proceval_{mode}",
    )


@scorer(metrics=[accuracy(), stderr(cluster="family")], name="proceval_code")
def proved_code() -> Scorer:
    """Hidden tests in proceval's own sandbox."""
    return _scorer("code")


@scorer(metrics=[accuracy(), stderr()], name="proceval_answer")
def proved_answer() -> Scorer:
    """The proved answer, compared with strict types."""
    return _scorer("answer")


def _scorer(mode: Mode) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        """A sandbox failure raises: the sample has an error then, and no score."""
        ended = _ENDED.get(state.output.stop_reason if state.output.choices else "stop", "stop")
        found = await averdict(state.metadata["row"], state.output.completion, mode=mode, finish_reason=ended)
        return Score(
            value=CORRECT if found.outcome == "passed" else INCORRECT,
            explanation=found.detail or found.outcome,
            metadata={"outcome": found.outcome, "extraction": found.extraction},
        )

    return score
