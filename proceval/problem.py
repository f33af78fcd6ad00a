"""From one instance to one problem with its evidence: prove, cross-check, choose tests, prove those too."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from proceval.protocols import Family, Instance, Proof, Prover, Section
from proceval.schema import Certificate, Json, Problem, Test
from proceval.seeding import digest
from proceval.smt import Spec


@dataclass(frozen=True)
class Candidate:
    """What became of one candidate: a problem, or the reasons against it, or a disagreement that stops the run."""

    problem: Problem | None = None
    canonical: str | None = None
    certificates: tuple[Certificate, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    reason: str | None = None
    disagreement: dict[str, Any] | None = None
    rejections: tuple[tuple[int, str], ...] = ()

    def with_rejections(self, rejections: Sequence[tuple[int, str]]) -> "Candidate":
        return replace(self, rejections=tuple(rejections))


def problem_id(
    *, family: str, family_version: int, arguments: Instance, statement: str, entry_point: str, expected: Json
) -> str:
    """Identity of a problem by content: never its seed, its index or its tier."""
    content = {
        "family": family,
        "family_version": family_version,
        "arguments": arguments,
        "statement": statement,
        "entry_point": entry_point,
        "expected": expected,
    }
    return digest(content)[:20]


def prove(family: Family, prover: Prover, instance: Instance, section: Section) -> Proof:
    """Certify one instance in this process. Raises errors.Malformed where the instance breaks the contract."""
    return prover.certify(specified(family, instance), section)


def specified(family: Family, instance: Instance) -> Spec:
    """The specification of an instance. Raises errors.Malformed where the instance breaks the contract."""
    family.validate(instance)
    spec = Spec(family.logic)
    family.specify(instance, spec)
    return spec


def certificate(problem: str, test: int, proof: Proof, oracle: str) -> Certificate:
    return Certificate(
        problem_id=problem,
        test=test,
        status=proof.status,
        answer=proof.answer,
        reason=proof.reason,
        solver=proof.solver,
        queries=proof.queries,
        oracle=oracle,
        opinions=proof.opinions,
    )


def build_problem(
    family: Family, prover: Prover, audit: Any, instance: Instance, tier: str, tests_rng: Random, section: Section
) -> Candidate:
    """Prove the instance and every test that goes with it; the oracle must agree each time.

    The companion tests come from the audit's choice: together with the main instance they kill the reference's mutants.
    """
    main = prove(family, prover, instance, section)
    truth = family.oracle(instance)
    if main.status == "unknown":
        return Candidate(reason=main.reason or "unknown")
    if (main.status, main.answer) != (truth.status, truth.answer):
        return Candidate(disagreement=_disagreement(family, instance, main, truth))
    if main.status != "unique":
        return Candidate(reason=main.status)
    section("tests")
    companions = audit.choose(family, instance, main.answer, tests_rng)
    tests = [(instance, "main"), *((i, "targeted") for i in companions), *((i, "example") for i in family.examples())]
    proofs = [main]
    for arguments, _ in tests[1:]:
        proof = prove_once(family, prover, specified(family, arguments), arguments, section)
        truth = family.oracle(arguments)
        if proof.status == "unknown":
            return Candidate(reason=f"companion_{proof.reason or 'unknown'}")
        if (proof.status, proof.answer) != ("unique", truth.answer) or truth.status != "unique":
            return Candidate(disagreement=_disagreement(family, arguments, proof, truth))
        proofs.append(proof)
    made = [Test(arguments=a, expected=p.answer, origin=o) for (a, o), p in zip(tests, proofs, strict=True)]  # type: ignore[arg-type]
    hidden = [t for t in made if t.origin != "example"]
    identity = problem_id(
        family=family.name,
        family_version=family.version,
        arguments=instance,
        statement=family.statement,
        entry_point=family.entry_point,
        expected=main.answer,
    )
    problem = Problem(
        id=identity,
        family=family.name,
        family_version=family.version,
        domain=family.domain,
        difficulty=tier,
        statement=family.statement,
        entry_point=family.entry_point,
        parameters=family.parameters,
        arguments=instance,
        expected=main.answer,
        reference=family.reference,
        examples=tuple(t for t in made if t.origin == "example"),
        tests=tuple(hidden),
    )
    numbers = [*range(len(hidden)), *(-1 - i for i in range(len(made) - len(hidden)))]
    return Candidate(
        problem=problem,
        canonical=digest(family.canonical(instance, tier)),
        certificates=tuple(
            certificate(identity, n, p, family.oracle_name) for n, p in zip(numbers, proofs, strict=True)
        ),
        texts={sha256: text for proof in proofs for sha256, text in proof.texts.items()},
        data={sha256: text for proof in proofs for sha256, text in proof.data.items()},
    )


_proved: dict[tuple[str, int, str, str], Proof] = {}
REMEMBERED = 200
"""Proofs of small tests that a process keeps; the tests that all problems of a family share are fewer."""


def prove_once(family: Family, prover: Prover, spec: Spec, instance: Instance, section: Section) -> Proof:
    """Certify; a small test shared by many problems is proved once a process (fresh contexts make it the same proof)."""
    key = (family.name, family.version, prover.name, digest(instance))
    proof = _proved.pop(key, None) or prover.certify(spec, section)
    _proved[key] = proof  # behind the others: the first one is the one that was needed longest ago
    if len(_proved) > REMEMBERED:
        del _proved[next(iter(_proved))]
    return proof


def _disagreement(family: Family, instance: Instance, proof: Proof, truth: Any) -> dict[str, Any]:
    return {
        "family": family.name,
        "family_version": family.version,
        "instance": instance,
        "solver": {"status": proof.status, "answer": proof.answer, "reason": proof.reason, "name": proof.solver},
        "oracle": {"status": truth.status, "answer": truth.answer, "name": family.oracle_name},
        "queries": list(proof.texts.values()),
    }
