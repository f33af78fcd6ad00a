"""Tests of the specifications themselves: small scope, vacuity, and no answer slipped in.

    python scripts/scope.py            every small instance of every family (minutes)
    python scripts/scope.py --check    the same, exit 1 unless all of it holds
    python scripts/scope.py --part 8   every eighth small instance only

For each family: (1) certificate and oracle agree on all instances up to a small scope, malformed, ambiguous and
unanswerable ones included; (2) without the rules of any one label, and with any one rule negated, some instance of the
scope gets another verdict; (3) no rule says outright what the answer is, every number in the text comes from the
instance or counts something in it, and nothing that the sampler or the oracle computes is called while specifying.
"""

import argparse
import copy
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval import config  # noqa: E402
from proceval.errors import Malformed  # noqa: E402
from proceval.protocols import Instance, Truth  # noqa: E402
from proceval.seeding import canonical, rng  # noqa: E402
from proceval.smt import Spec  # noqa: E402

TIERS = ("easy", "medium", "hard", "extreme", "frontier")


def silent(label: str) -> None:
    return None


def parts() -> tuple[dict[str, Any], Any]:
    """All families by name, and the prover, as conf/ describes them."""
    settings = config.compose("domain=[arrays,graphs,automata]", f"difficulty=[{','.join(TIERS)}]")
    groups = config.build(settings["domain"], "domain").values()
    families = {name: family for group in groups for name, family in group.items()}
    return families, config.build(settings["prover"], "prover")


def decide(family: Any, prover: Any, instance: Instance) -> Truth:
    try:
        return verdict(prover, family.specification(instance))
    except Malformed:
        return Truth("malformed")


def verdict(prover: Any, spec: Spec) -> Truth:
    """What the rules alone say: the family's direct argument would catch many a broken rule before it shows."""
    spec.evidence = None
    proof = prover.certify(spec, silent)
    return Truth(proof.status, proof.answer)


def disagreements(family: Any, prover: Any, instances: list[Instance]) -> tuple[Counter[str], list[Instance]]:
    """How often each verdict came up, and the instances on which certificate and oracle differ."""
    seen: Counter[str] = Counter()
    wrong = []
    for instance in instances:
        truth = family.oracle(instance)
        seen[truth.status] += 1
        if canonical(vars(decide(family, prover, instance))) != canonical(vars(truth)):
            wrong.append(instance)
    return seen, wrong


def without(spec: Spec, label: str) -> Spec:
    changed = copy.copy(spec)
    changed.rules = [rule for rule in spec.rules if rule[0] != label]
    return changed


def negated(spec: Spec, label: str) -> Spec:
    """The last rule of the label turned round; the others stand."""
    changed = copy.copy(spec)
    last = max(k for k, rule in enumerate(spec.rules) if rule[0] == label)
    changed.rules = [(name, f"(not {term})" if k == last else term) for k, (name, term) in enumerate(spec.rules)]
    return changed


def unnoticed(family: Any, prover: Any, instances: list[Instance], change: Callable[[Spec, str], Spec]) -> set[str]:
    """Labels whose change alters no verdict in the scope: the rule is redundant or the scope too small.

    Malformed instances count too where they can be specified at all: some rules guard what the validator guards.
    """
    labels: set[str] = set()
    noticed: set[str] = set()
    for instance in instances:
        malformed = family.oracle(instance).status == "malformed"
        if malformed and any(type(x) not in (int, list, dict) for x in _parts(instance)):
            continue
        spec = Spec(family.logic)
        try:
            family.specify(instance, spec)
        except (LookupError, TypeError, ValueError):
            continue
        if malformed:
            spec.decode = lambda values: None
        open_labels = {label for label, _ in spec.rules} - noticed
        before = canonical(vars(verdict(prover, spec))) if open_labels else ""
        labels |= open_labels
        for label in open_labels:
            if canonical(vars(verdict(prover, change(spec, label)))) != before:
                noticed.add(label)
    return labels - noticed


def foreign_numbers(instance: Instance, spec: Spec) -> set[int]:
    """Integer literals of the rules that neither stand in the instance nor count or index anything in it."""
    known = {abs(int(x)) for x in re.findall(r"-?\d+", json.dumps(instance))}
    longest = max(len(x) for x in _parts(instance) if isinstance(x, list))
    counts = max([longest, *(x for x in instance.values() if type(x) is int and x < 10_000)])
    text = " ".join(term for _, term in spec.rules)
    literals = {int(x) for x in re.findall(r"(?<![\w.])\d+", text)}
    return {x for x in literals if x not in known and x > counts + 1}


def _parts(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)


def outright(spec: Spec) -> list[str]:
    """Rules that equate a variable of the goal with a literal other than 0, which is an empty sum."""
    fixed = re.compile(rf"\(= ({'|'.join(map(re.escape, spec.terms))}) (\(- )?[1-9]\d*\)?\)")
    return [term for _, term in spec.rules if fixed.fullmatch(term)]


def borrowed(family: Any, instance: Instance, tier: str) -> set[str]:
    """Functions of proceval.domain that specifying calls and that sampling or the oracle calls too."""

    def called(work: Callable[[], Any]) -> set[str]:
        names: set[CodeType] = set()

        def note(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and "/domain/" in frame.f_code.co_filename.replace("\\", "/"):
                names.add(frame.f_code)

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            work()
        finally:
            sys.setprofile(before)
        return {code.co_qualname for code in names}

    specified = called(lambda: family.specify(instance, Spec(family.logic)))
    computed = called(lambda: family.sample(rng("borrowed"), tier)) | called(lambda: family.oracle(instance))
    return specified & computed


def slipped_in(family: Any) -> list[str]:
    """What speaks against the answer having been found anywhere but by the solver, over samples of all tiers."""
    found = []
    for tier in family.tiers:
        for index in range(3):
            instance = family.sample(rng("scope", family.name, tier, index), tier)
            spec = family.specification(instance)
            if numbers := foreign_numbers(instance, spec):
                found.append(f"{tier}: numbers {sorted(numbers)[:5]}")
            if rules := outright(spec):
                found.append(f"{tier}: {rules[0]}")
            if spec.logic == "QF_UF" and re.search(r"(?<![\w.])\d", " ".join(term for _, term in spec.rules)):
                found.append(f"{tier}: a number in a Boolean specification")
            if names := borrowed(family, instance, tier):
                found.append(f"{tier}: calls {sorted(names)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--check", action="store_true", help="exit 1 unless everything holds")
    parser.add_argument("--part", type=int, default=1, help="take every PART-th small instance")
    given = parser.parse_args()
    families, prover = parts()
    bad = 0
    for name, family in families.items():
        instances = list(family.small())[:: given.part]
        seen, wrong = disagreements(family, prover, instances)
        dropped = unnoticed(family, prover, instances, without)
        turned = unnoticed(family, prover, instances, negated)
        slipped = slipped_in(family)
        print(f"{name}: {len(instances)} instances {dict(seen)}, {len(wrong)} disagree")
        for what, items in (("disagrees", wrong), ("dropped", dropped), ("negated", turned), ("slipped in", slipped)):
            for item in sorted(map(str, items)):
                print(f"    {what}: {item}")
                bad += 1
        sys.stdout.flush()
    print("all holds" if not bad else f"{bad} findings")
    return 1 if bad and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
