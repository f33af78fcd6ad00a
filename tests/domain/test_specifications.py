"""The specifications say what the answer is: no rule is idle, no answer is slipped in, and the checks can tell."""

from itertools import chain
from typing import Any

from proceval.smt import Spec
from scripts import scope


def spread(family: Any, limit: int) -> list[Any]:
    instances = list(family.small())
    return instances[:: max(1, len(instances) // limit)]


def test_dropping_or_negating_any_rule_is_noticed(family: Any, prover: Any) -> None:
    instances = spread(family, 120)
    assert scope.unnoticed(family, prover, instances, scope.without) == set()
    assert scope.unnoticed(family, prover, instances, scope.negated) == set()


def test_no_answer_is_slipped_in(family: Any) -> None:
    assert scope.slipped_in(family) == []


class Broken:
    """A family with one thing changed in its specification."""

    def __init__(self, family: Any, change: Any):
        self.family, self.change = family, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self.family, name)

    def specify(self, instance: Any, spec: Spec) -> None:
        self.family.specify(instance, spec)
        self.change(self.family, instance, spec)

    def specification(self, instance: Any) -> Spec:
        spec: Spec = self.family.specification(instance)
        self.change(self.family, instance, spec)
        return spec


def tell(family: Any, instance: Any, spec: Spec) -> None:
    spec.rule("the answer", f"(= {spec.terms[0]} {family.oracle(instance).answer})")


def idle(family: Any, instance: Any, spec: Spec) -> None:
    spec.rule("idle", "true")


def computed(family: Any, instance: Any, spec: Spec) -> None:
    spec.rule("a sum", f"(< {spec.terms[0]} {1000 * sum(instance['array'])})")


def test_the_checks_find_what_they_look_for(named: Any, prover: Any) -> None:
    family = named("equilibrium_index")
    told = scope.slipped_in(Broken(family, tell))
    assert any("(= index" in line for line in told)
    assert any("calls" in line for line in told)
    assert any("numbers" in line for line in scope.slipped_in(Broken(family, computed)))
    instances = spread(family, 100)
    assert scope.unnoticed(Broken(family, idle), prover, instances, scope.without) == {"idle"}


def test_a_specification_that_forgets_a_rule_disagrees_with_the_oracle(named: Any, prover: Any) -> None:
    class Forgetful(Broken):
        def specification(self, instance: Any) -> Spec:
            return scope.without(self.family.specification(instance), self.change)

    for name in ("monotonic_split", "dag_reachability"):
        family = named(name)
        labels = set(chain.from_iterable((r[0] for r in family.specification(i).rules) for i in family.examples()))
        for label in labels:
            _, wrong = scope.disagreements(Forgetful(family, label), prover, spread(family, 60))
            assert wrong, (name, label)
