"""The Python face for notebooks: three functions over the same parts that the command line uses."""

import asyncio
from pathlib import Path
from typing import Any

from proceval import config, sandboxing
from proceval.errors import InputError
from proceval.folder import read
from proceval.problem import prove as prove_instance
from proceval.protocols import Family, Instance, Proof
from proceval.schema import Completion, Problem


def load(path: str | Path) -> list[Problem]:
    """The problems of a dataset.jsonl or of a run folder. Raises InputError naming file, line and field."""
    given = Path(path)
    return list(read(given / "dataset.jsonl" if given.is_dir() else given, Problem))


def prove(family: str, instance: Instance, *overrides: str) -> Proof:
    """Prove one instance of a family, named as in conf/domain, in a killable worker.

    `overrides` are command-line words such as `prover=z3_cvc5`. Raises errors.Malformed for an instance that breaks the
    family's contract, InputError for an unknown family.
    """
    from sandbox.worker import Worker

    settings = config.compose(*overrides)
    families: dict[str, Family] = {
        name: made for group in config.build(settings["domain"], "domain").values() for name, made in group.items()
    }
    if family not in families:
        raise InputError(f"unknown family {family!r}; known: {', '.join(families)}")
    families[family].validate(instance)
    prover = config.build(settings["prover"], "prover")

    def work(given: Instance, section: Any) -> Proof:
        return prove_instance(families[family], prover, given, section)

    with Worker(work, **prover.limits) as worker:
        reply = worker.call(instance)
    if reply.status == "done":
        proof: Proof = reply.value
        return proof
    reason = f"solver_{reply.status} in {reply.section}"
    return Proof(status="unknown", answer=None, reason=reason, solver=prover.name, queries=(), texts={})


def score(problem: Problem, text: str, *overrides: str) -> Any:
    """Judge a model's text on a problem's hidden tests, in the sandbox; returns the scorer's judgement."""
    settings = config.compose(*overrides)
    track = config.build(settings["track"], "track")
    sandbox = config.build(settings["sandbox"], "sandbox")
    sandboxing.start(sandbox)
    completion = Completion(
        text=text, finish_reason="stop", prompt_tokens=None, completion_tokens=None, cost_usd=None, latency_s=0.0
    )
    try:
        return asyncio.run(track.scorer(sandbox).score(problem, completion))
    finally:
        sandbox.close()
