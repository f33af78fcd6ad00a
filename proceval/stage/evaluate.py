"""stage=evaluate: ask a model for completions and judge them; only problems that the audit accepted are asked."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from proceval import folder as files
from proceval import sandboxing
from proceval.errors import Finding, InputError
from proceval.folder import ANSWERED, RunFolder
from proceval.nearest import filled
from proceval.schema import Problem, Verdict
from proceval.stage import progress
from proceval.words import shown

WORK = {
    "code": "track=solve",
    "answer": "track=solve",
    "review": "track=review",
    "agent": "track=agent",
    "judge": "model@track.judges.NAME",
}
"""A track's mode, or the work of a judge -> the words that ask for it."""


def suits(model: Any, mode: str) -> None:
    """Raises InputError for a model that is made for other work."""
    modes = getattr(model, "modes", (mode,))
    if mode not in modes:
        fit = " or ".join(dict.fromkeys(WORK[name] for name in modes))
        raise InputError(f"model {model.id} is made for {fit}, not for {WORK[mode]}; choose another model, or {fit}")


def lacks(model: Any) -> str | None:
    """One sentence on a key, a package or weights that this model needs and does not have, or None."""
    found: str | None = getattr(model, "lacks", lambda: None)()
    return found


class Evaluate:
    """Appends records.jsonl (paid responses) and writes verdicts.jsonl; exit status 3 when something stayed unscored."""

    then = ["stage=report"]

    def __init__(
        self,
        *,
        engine: Any,
        track: Any,
        model: Any,
        strategy: Any,
        sandbox: Any,
        samples: Annotated[int, Field(ge=1)],
        limit: int | None,
        dry_run: bool,
        rescore: bool,
    ) -> None:
        self.engine, self.track, self.model, self.strategy, self.sandbox = engine, track, model, strategy, sandbox
        self.samples, self.limit, self.dry_run, self.rescore = samples, limit, dry_run, rescore
        self.in_place = rescore
        self.writes = not getattr(track, "listing", False)

    def check_models(self) -> None:
        """Raises InputError for a model that is not made for this track, lacks a key, a package or weights, or the price
        that a budget in dollars needs.

        A dry run, which asks nobody, only says what is lacking; recorded answers are judged again without their model.
        """
        asked = [(self.model, str(self.track.mode)), *((judge, "judge") for judge in self.track.judges())]
        for model, mode in asked if self.writes else ():
            suits(model, mode)
            complaint = None if self.rescore else lacks(model) or self.engine.unpriced(model)
            if complaint and not self.dry_run:
                raise InputError(complaint)
            if complaint:
                progress.say(f"! {complaint}; this forecast needs none, the run will")

    def check_sandbox(self) -> None:
        """Start it, before the first problem is made. Raises InputError where a layer is missing that may not be."""
        if self.writes and not self.dry_run:
            sandboxing.start(self.sandbox)

    def check(self, folder: RunFolder) -> None:
        self.check_models()
        self.check_sandbox()
        if self.rescore and not filled(folder / "records.jsonl"):
            raise InputError(
                f"rescore=true: no recorded answer in {shown(folder.path)}{folder.nearest(ANSWERED, 'records.jsonl')}"
            )
        if self.track.proved:
            folder.source()
        else:
            self.track.cases(folder)

    def run(self, folder: RunFolder) -> int:
        if not self.writes:
            return self._list(folder)
        problems = self._problems(folder) if self.track.proved else self._cases(folder)
        if self.dry_run:
            forecast = self.engine.forecast(
                problems, model=self.model, strategy=self.strategy, track=self.track, samples=self.samples
            )
            said = {
                key.replace("_", " "): "unknown" if value is None else f"{value:.6g}" for key, value in forecast.items()
            }
            progress.say("forecast " + ", ".join(f"{key} {value}" for key, value in said.items()))
            return 0
        sandboxing.start(self.sandbox)  # forks before the event loop and the model's client exist
        scorer = self.track.scorer(self.sandbox)
        planned = len(problems) * len(self.track.arms) * self.samples
        with progress.bar("evaluate", planned) as advance:
            report = self.engine.evaluate(
                problems,
                model=self.model,
                strategy=self.strategy,
                track=self.track,
                scorer=scorer,
                samples=self.samples,
                folder=folder.path,
                progress=advance,
                rescore=self.rescore,
                say=lambda line: progress.say(f"evaluate {line}"),
            )
        workspaces = getattr(self.track, "missing_layers", lambda: None)()
        files.write_atomically(folder / sandboxing.RECORD, sandboxing.record(self.sandbox, workspaces))
        self.sandbox.close()
        if report.resumed and not self.rescore:
            progress.say(
                f"evaluate {report.resumed} answers were on record, {report.requests} are new; all judged anew"
            )
        progress.say("evaluate " + ", ".join(f"{n} {outcome}" for outcome, n in Counter(report.outcomes).most_common()))
        if report.faults:
            kinds = ", ".join(f"{n} {kind}" for kind, n in report.faults.items())
            progress.say(
                f"evaluate failed requests, never the model's fault: {kinds}; each with its words in faults.jsonl"
            )
        if report.stopped is not None:
            progress.say(f"evaluate stopped: {report.stopped}")
        self._tell(folder)
        failed = any(report.outcomes.get(outcome) for outcome in self.track.failures)
        return max(int(report.exit_status), int(failed))

    def _list(self, folder: RunFolder) -> int:
        """Show the cases that would be asked."""
        from proceval.report import agent

        print(agent.listing(self.track.cases(folder)))
        return 0

    def _tell(self, folder: RunFolder) -> None:
        """Of agents, how every case went."""
        if self.track.mode == "agent":
            from proceval.report import agent

            print(agent.told(list(files.read(folder / "verdicts.jsonl", Verdict))), flush=True)

    def _cases(self, folder: RunFolder) -> list[Any]:
        """The track's own cases, `limit` a cell, written down as they were asked."""
        taken: Counter[tuple[str, str]] = Counter()
        chosen = []
        for case in self.track.cases(folder):
            cell = (case.domain, case.difficulty)
            if self.limit is None or taken[cell] < self.limit:
                taken[cell] += 1
                chosen.append(case)
        if not self.dry_run:
            files.write_records(folder / "cases.jsonl", chosen)
        return chosen

    def _problems(self, folder: RunFolder) -> list[Problem]:
        folder.adopt(folder.source(), (*files.GENERATED, "audit.jsonl"))
        return self._accepted(folder)

    def _accepted(self, folder: RunFolder) -> list[Problem]:
        """The problems to ask, `limit` a cell; withheld ones are left out by key. Raises InputError when none is left."""
        audit: Path = folder / "audit.jsonl"
        withheld = (
            {report.problem_id for report in files.audits(folder.path) if not report.accepted}
            if audit.is_file()
            else set()
        )
        taken: Counter[tuple[str, str]] = Counter()
        chosen = []
        for problem in folder.problems():
            cell = (problem.family, problem.difficulty)
            if problem.id in withheld or (self.limit is not None and taken[cell] >= self.limit):
                continue
            taken[cell] += 1
            chosen.append(problem)
        if not chosen:
            raise Finding(f"no problem to evaluate: the audit withheld all {len(withheld)} of them")
        if not audit.is_file():
            progress.say("evaluate this dataset was not audited: run stage=audit to measure its tests")
        return chosen
