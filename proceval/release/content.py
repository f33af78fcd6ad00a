"""What a problem says of itself against what its family says, found without a solver: for a dataset's row and a release's."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from proceval.errors import Malformed
from proceval.problem import problem_id, specified
from proceval.protocols import Family
from proceval.schema import Opinion, Problem, Test
from proceval.seeding import canonical
from proceval.smt import Argument

Fault = tuple[str, str]
"""(field, what is wrong with it)."""
ReadData = Callable[[str], str]
"""The JSON text of a hash; raises Unreadable."""


class Unreadable(Exception):
    """A text beside the dataset is missing, damaged, or not the one that its hash names."""


def content(problem: Problem, family: Family) -> Iterator[Fault]:
    """The family's own words, the size of the tier, the id, the order of the tests and the examples."""
    for field, ours in (
        ("domain", family.domain),
        ("statement", family.statement),
        ("entry_point", family.entry_point),
        ("parameters", tuple(family.parameters)),
        ("reference", family.reference),
    ):
        if getattr(problem, field) != ours:
            yield field, f"differs from version {family.version} of {family.name}"
    if problem.difficulty not in family.tiers:
        yield "difficulty", f"{problem.difficulty!r} is not among difficulty=; known here: {', '.join(family.tiers)}"
    elif not family.fits(problem.arguments, problem.difficulty):
        yield "difficulty", f"the instance has not the size of tier {problem.difficulty}"
    identity = problem_id(
        family=problem.family,
        family_version=problem.family_version,
        arguments=problem.arguments,
        statement=problem.statement,
        entry_point=problem.entry_point,
        expected=problem.expected,
    )
    if identity != problem.id:
        yield "id", f"{problem.id}, but the content hashes to {identity}"
    main = problem.tests[0] if problem.tests else None
    if main is None or main.origin != "main":
        yield "tests.0", "the first test must be the main instance"
    else:
        if canonical(main.arguments) != canonical(problem.arguments):
            yield "arguments", "differs from the main test's arguments"
        if not same(main.expected, problem.expected):
            yield "expected", "differs from the main test's expected value"
    distinct = {canonical(test.arguments) for test in problem.tests}
    if len(distinct) != len(problem.tests):
        yield "tests", "one instance stands twice"
    for number, test in enumerate(problem.tests[1:], 1):
        if test.origin != "targeted":
            yield f"tests.{number}.origin", f"{test.origin!r} instead of targeted"
    if [canonical(t.arguments) for t in problem.examples] != [canonical(i) for i in family.examples()] or any(
        t.origin != "example" for t in problem.examples
    ):
        yield "examples", f"differs from version {family.version} of {family.name}"


def numbered(problem: Problem) -> Iterator[tuple[int, str, Any]]:
    """(number as in a certificate, field, test) of every test and example."""
    yield from ((number, f"tests.{number}", test) for number, test in enumerate(problem.tests))
    yield from ((-1 - number, f"examples.{number}", test) for number, test in enumerate(problem.examples))


def solver(family: Family) -> Callable[..., Any]:
    """The family's reference, ready to be called: our own text, not the file's."""
    namespace: dict[str, Any] = {"__name__": "reference"}
    exec(family.reference, namespace)
    found: Callable[..., Any] = namespace[family.entry_point]
    return found


def answers(field: str, test: Any, answer: Any, family: Family, reference: Callable[..., Any]) -> Iterator[Fault]:
    """What the oracle and the reference say of a test, against `answer`."""
    truth = family.oracle(test.arguments)
    if truth.status != "unique" or not same(answer, truth.answer):
        yield f"{field}.expected", f"the oracle says {truth.status} {short(truth.answer)}"
    given = reference(**json.loads(json.dumps(test.arguments)))
    if not same(answer, given):
        yield f"{field}.expected", f"the reference returns {short(given)}"


def claims(problem: Problem, family: Family, evidence: Sequence[dict[str, Any]], read: ReadData) -> Iterator[Fault]:
    """Of every test: the answer by oracle and reference, the oracle's name, and the opinions of a published row."""
    reference, by_test = solver(family), {item["test"]: item for item in evidence}
    for number, field, test in numbered(problem):
        try:
            spec = specified(family, test.arguments)
        except Malformed as error:
            yield f"{field}.arguments", f"breaks the family's contract: {error}"
            continue
        yield from answers(field, test, test.expected, family, reference)
        item = by_test.get(number)
        if item is None:
            continue
        where, opinions = f"evidence of {field}", [Opinion.model_validate(one) for one in item["opinions"]]
        if item["oracle"] != family.oracle_name:
            yield where, f"the oracle is {item['oracle']!r} instead of {family.oracle_name!r}"
        yield from contradictions(where, opinions)
        for opinion in opinions:
            if opinion.by.startswith("direct: ") and opinion.by != f"direct: {spec.evidence and spec.evidence.name}":
                yield where, f"{opinion.by} is no argument of {family.name}"
        if spec.evidence is not None:
            yield from argued(f"{where}, {spec.evidence.name}", opinions, spec.evidence, test.expected, read)


def argued(
    where: str, opinions: Sequence[Opinion], argument: Argument, expected: Any, read: ReadData
) -> Iterator[Fault]:
    """The stored data of a direct argument, put before its checker: no solver, oracle or reference has a say here."""
    for opinion in opinions:
        if opinion.by != f"direct: {argument.name}" or "checked" not in (opinion.existence, opinion.uniqueness):
            continue
        try:
            data = None
            if opinion.data_sha256 is not None:
                data = json.loads(read(opinion.data_sha256))
            good = argument.check(expected, data)
        except Unreadable as error:
            yield where, f"{opinion.data_sha256}.json.gz: {error}"
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            yield where, f"the stored data have not the form that the checker reads: {error!r}"
        else:
            if not good:
                yield where, f"the stored data do not prove {short(expected)}"


def contradictions(where: str, opinions: Sequence[Opinion]) -> Iterator[Fault]:
    """Second opinions that speak against the label."""
    for opinion in opinions:
        if opinion.existence == "unsat" or opinion.uniqueness == "sat":
            yield where, f"{opinion.by} contradicts the label"


def same(left: Any, right: Any) -> bool:
    """Strict equality of JSON values: True, 1 and 1.0 differ."""
    return canonical(left) == canonical(right)


def short(value: Any) -> str:
    """A value as a sentence shows it, at most 60 characters."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."


def as_made(problem: Problem, family: Family) -> Problem:
    """The problem with the keys of its objects in the family's order, which the canonical JSON of a row does not keep."""
    shape = family.examples()[0]
    answer = family.oracle(shape).answer

    def test(one: Test) -> Test:
        return one.model_copy(
            update={"arguments": _ordered(one.arguments, shape), "expected": _ordered(one.expected, answer)}
        )

    return problem.model_copy(
        update={
            "arguments": _ordered(problem.arguments, shape),
            "expected": _ordered(problem.expected, answer),
            "examples": tuple(map(test, problem.examples)),
            "tests": tuple(map(test, problem.tests)),
        }
    )


def _ordered(value: Any, like: Any) -> Any:
    if isinstance(value, dict) and isinstance(like, dict) and set(value) == set(like):
        return {name: _ordered(value[name], like[name]) for name in like}
    if isinstance(value, list) and isinstance(like, list | tuple) and like:
        return [_ordered(item, like[0]) for item in value]
    return value
