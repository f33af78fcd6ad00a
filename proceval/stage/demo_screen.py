"""What stage=demo prints: rich in a terminal, plain lines elsewhere; the words come from what really happened."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from proceval.protocols import Family, Instance, Proof
from proceval.report.cells import percent
from proceval.report.scores import OFFLINE, outcome_owner
from proceval.schema import AuditReport, Json, Mutant, Problem, Verdict
from proceval.statistics import pass_at_k

LINES = 12
"""Lines of a text that are shown."""


class Screen:
    """Prints to standard output; `pause_s` is how long it waits after each step, for reading."""

    def __init__(self, *, pause_s: float) -> None:
        from rich.console import Console

        self.console = Console(highlight=False, soft_wrap=True)
        self.pause_s = pause_s
        self.number = 0
        self.started_s = time.monotonic()
        self.paused_s = 0.0

    # ------------------------------------------------------------------------------------ the frame

    def say(self, said: str, style: str = "") -> None:
        """One line; nothing in it is markup."""
        self.console.print(f"  {said}" if said else "", style=style, markup=False)

    def step(self, title: str) -> None:
        self.number += 1
        self.rest()
        self.console.print(f"\n{self.number}. {title}", style="bold cyan", markup=False)

    def rest(self, share: float = 1.0) -> None:
        """A pause for reading, counted, so that the end can say how much of the time was work."""
        if self.pause_s:
            time.sleep(self.pause_s * share)
            self.paused_s += self.pause_s * share

    def title(self, family: str, tier: str, seed: object) -> None:
        self.console.print("proceval: from nothing to a proved, audited, scored problem", style="bold")
        self.say(f"family {family}, tier {tier}, seed {seed}; no network, nothing is kept", "dim")

    def end(self) -> None:
        whole_s = time.monotonic() - self.started_s
        said = f"{whole_s:.0f} s, of which {whole_s - self.paused_s:.1f} s were work and the rest was for reading"
        self.console.print()
        self.say(said if self.paused_s else f"{whole_s:.1f} s", "dim")
        self.say("next     python -m proceval                 the same for 84 problems, with a report")
        self.say("         python -m proceval stage=console   look at them in a browser (extra ui)")

    # ------------------------------------------------------------------------------------ the problem

    def instance(self, family: Family, instance: Instance) -> None:
        self.say(family.statement.splitlines()[0])
        successors: dict[int, list[str]] = {vertex: [] for vertex in range(instance["n"])}
        for tail, head, *weight in instance["edges"]:
            successors[tail].append(f"{head} (weight {weight[0]})" if weight else str(head))
        for vertex, heads in successors.items():
            marks = [name for name in ("source", "target", "vertex") if instance.get(name) == vertex]
            arrow = f" -> {', '.join(sorted(heads))}" if heads else ""
            self.say(f"{vertex:>4}{arrow}{'   <- ' + ', '.join(marks) if marks else ''}", "bold" if marks else "")

    def proof(self, proof: Proof) -> None:
        """Every query of the proof in order: what it asks, what the solver said, and how much work it was."""
        before = ""
        for number, query in enumerate(proof.queries):
            last = number == len(proof.queries) - 1
            if query.kind == "existence":
                self.step("Does an answer exist?" if not number else "Is this one an answer?")
            else:
                self.step("Could there be another answer? Block the one found, and ask again")
            text = proof.texts[query.smt_sha256]
            self._text(text[len(before) :] if before and text.startswith(before) else text)
            before = text if query.kind == "existence" and not before else before
            meaning = {
                ("existence", "sat"): "there is an answer",
                ("uniqueness", "sat"): "there is a rival: the search goes on from it",
                ("uniqueness", "unsat"): "no other answer exists",
            }.get((query.kind, query.verdict), "")
            style = "bold green" if last or query.verdict == "sat" else ""
            self.say(f"{query.verdict}: {meaning}   ({query.resource_count} steps of {proof.solver})", style)
        self.say(f"the answer is {json.dumps(proof.answer)}, and it is the only one", "bold")

    def oracle(self, name: str, answer: Json, proof: Proof) -> None:
        self.step("Ask somebody who shares no code with the solver")
        self.say(f"oracle {name}: {json.dumps(answer)}")
        for opinion in proof.opinions:
            self.say(f"{opinion.by}: existence {opinion.existence}, uniqueness {opinion.uniqueness}")

    def tests(self, problem: Problem, answers: int, queries: int) -> None:
        for number, test in enumerate(problem.tests):
            self.say(
                f"test {number} ({test.origin}): {_cut(json.dumps(test.arguments), 60)} -> {json.dumps(test.expected)}"
            )
        shown = len(problem.examples)
        self.say(f"with {shown} public examples: {answers} answers, each proved unique, in {queries} queries", "bold")

    # ------------------------------------------------------------------------------------ the audit

    def reference(self, normal: str, mutants: int) -> None:
        body = normal.split('"""')[-1].strip("\n") if normal.count('"""') >= 2 else normal
        self._text(body, 14)
        self.say(f"{mutants} mutants of this:")
        self.rest()

    def killed(self, mutant: Mutant, test: int, kill: str, value: Any, expected: Json) -> None:
        how = {"exception": str(value or "raises"), "step_budget": "never comes back"}.get(kill, f"gives {value}")
        if kill in ("value", "type"):
            how += f" for {json.dumps(expected)}"
        self._mutant("killed", "green", mutant, f"test {test}: {how}")

    def spared(self, mutant: Mutant) -> None:
        """A mutant that no test kills: proved harmless, the same code as another one, or a survivor."""
        style = "bold red" if mutant.fate == "survived" else "dim"
        why = f"proved by {mutant.reason}" if mutant.fate == "equivalent" else (mutant.reason or "no test notices")
        self._mutant(mutant.fate, style, mutant, why)

    def _mutant(self, fate: str, style: str, mutant: Mutant, why: str) -> None:
        from rich.text import Text

        line = Text("  ").append(f"{fate:<11}", style).append(f"line {mutant.line:<3}")
        line.append(f"{_ends(mutant.before)} -> {_ends(mutant.after)}")
        line.append(f"   {_cut(why, max(26, self.console.width - len(line) - 3))}", "dim")
        self.console.print(line)
        self.rest(0.15)

    @contextmanager
    def counting(self, label: str, total: int) -> Iterator[Callable[[], None]]:
        """A bar below the lines in a terminal; nothing elsewhere."""
        if not self.console.is_terminal:
            yield lambda: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=self.console, transient=True) as progress:
            task = progress.add_task(label, total=total)
            yield lambda: progress.advance(task)

    def audited(self, report: AuditReport) -> None:
        counts = Counter(mutant.fate for mutant in report.mutants)
        killed = counts["killed"] + counts["timeout"]
        judged = killed + counts["survived"]
        rest = ", ".join(f"{counts[fate]} {fate}" for fate in ("equivalent", "duplicate", "survived") if counts[fate])
        self.say(
            f"{killed} of {judged} that can be killed are killed" + (f"; {rest}" if rest else "")
            + f": the problem is {'accepted' if report.accepted else 'withheld'}",
            "bold green" if report.accepted else "bold red",
        )  # fmt: skip

    # ------------------------------------------------------------------------------------ the evaluation

    def model(self, name: str, prompt: str) -> None:
        self.say(f"model {name} gets the statement and the public examples ({len(prompt):,} characters), no test")
        if name in OFFLINE:
            self.say(OFFLINE[name], "dim")

    def verdicts(self, verdicts: Sequence[Verdict], tests: int, took_s: float) -> None:
        owners = outcome_owner()
        for verdict in verdicts:
            good = sum(test.outcome == "passed" for test in verdict.tests)
            owner = "" if verdict.passed else f", {owners[verdict.outcome]}'s doing"
            style = "green" if verdict.passed else "red" if verdict.scored else "yellow"
            detail = f": {_cut(verdict.detail, 60)}" if verdict.detail else ""
            self.say(f"sample {verdict.sample}: {verdict.outcome} ({good} of {tests} tests{owner}){detail}", style)
        scored = [verdict for verdict in verdicts if verdict.scored]
        figures = []
        for k in (1, len(verdicts)):
            value = pass_at_k(len(scored), sum(v.passed for v in scored), k)
            figures.append(f"pass@{k} {percent(None if value is None else float(value))}")
        self.say(f"{', '.join(dict.fromkeys(figures))}, of {len(scored)} scored samples, in {took_s:.2f} s", "bold")

    def _text(self, text: str, most: int = LINES) -> None:
        lines = text.rstrip("\n").splitlines()
        for line in lines[:most]:
            self.say(f"  {_cut(line, 100)}", "dim")
        if len(lines) > most:
            self.say(f"  ... {len(lines) - most} more lines", "dim")


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _ends(text: str, most: int = 20) -> str:
    """Both ends of a text on one line: where two long ones differ is as often at the end."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most // 2]}…{line[-(most // 2 - 1) :]}"
