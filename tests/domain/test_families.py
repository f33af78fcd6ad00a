"""Properties that hold for every family, whatever it asks."""

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from proceval.errors import InputError, Malformed
from proceval.seeding import canonical, digest, rng
from tests.domain.conftest import FAMILIES, TIERS, build

SILENT = lambda label: None  # noqa: E731


def solve(family: Any, instance: Any) -> Any:
    scope: dict[str, Any] = {}
    exec(family.reference, scope)
    return scope[family.entry_point](**json.loads(json.dumps(instance)))


def agree(family: Any, prover: Any, instance: Any) -> str:
    """Certificate, oracle and reference of one instance; returns the common status."""
    truth = family.oracle(instance)
    try:
        spec = family.specification(instance)
    except Malformed:
        assert truth.status == "malformed"
        return "malformed"
    proof = prover.certify(spec, SILENT)
    assert (proof.status, canonical(proof.answer)) == (truth.status, canonical(truth.answer)), instance
    if proof.status == "unique":
        assert canonical(solve(family, instance)) == canonical(proof.answer), instance
    return str(proof.status)


def test_certificate_oracle_and_reference_agree_in_a_small_scope(family: Any, prover: Any) -> None:
    instances = list(family.small())
    chosen = [*instances[:: max(1, len(instances) // 120)], *instances[-8:]]  # the malformed ones come last
    seen = {agree(family, prover, instance) for instance in chosen}
    assert {"unique", "malformed"} <= seen


@pytest.mark.slow
def test_certificate_oracle_and_reference_agree_on_the_whole_small_scope(family: Any, prover: Any) -> None:
    for instance in family.small():
        agree(family, prover, instance)


@pytest.mark.parametrize("tier", TIERS)
def test_samples_are_valid_sized_and_almost_always_unique(family: Any, prover: Any, tier: str) -> None:
    count = 2 if tier == "frontier" else 12
    statuses = []
    for index in range(count):
        instance = family.sample(rng(family.name, tier, index), tier)
        assert family.fits(instance, tier)
        statuses.append(agree(family, prover, instance))
    assert statuses.count("unique") >= 0.7 * count


def test_equal_seeds_give_equal_instances_and_neighbours_differ(family: Any) -> None:
    for tier in TIERS:
        one, same, other = (family.sample(rng("seed", family.name, seed), tier) for seed in (1, 1, 2))
        assert canonical(one) == canonical(same)
        if tier == "frontier":
            assert canonical(one) != canonical(other)


PRINT_DIGESTS = """
from tests.domain.conftest import FAMILIES, TIERS, build
from proceval.seeding import digest, rng
for name in FAMILIES:
    family = build(name)
    samples = [family.sample(rng(name, tier), tier) for tier in TIERS]
    texts = [family.specification(s).existence() for s in samples]
    forms = [family.canonical(s, "easy") for s in samples]
    print(name, digest([samples, list(family.targeted(rng(name))), forms, texts, family.statement, family.reference]))
"""


def test_samples_and_texts_do_not_depend_on_the_hash_seed() -> None:
    root = Path(__file__).resolve().parents[2]
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGESTS],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) == len(FAMILIES)


def test_examples_and_targeted_instances_are_proved_and_unique(family: Any, prover: Any) -> None:
    targeted = list(family.targeted(Random(5)))
    assert canonical(targeted) == canonical(list(family.targeted(Random(5))))
    assert 40 <= len(targeted) <= 60
    assert 2 <= len(family.examples()) <= 3
    for instance in [*family.examples(), *targeted]:
        assert agree(family, prover, instance) == "unique"


def test_the_statement_names_every_parameter_and_the_reference_stands_alone(family: Any) -> None:
    assert family.entry_point == family.name
    for parameter in family.parameters:
        assert f"`{parameter}`" in family.statement
    assert "Return" in family.statement
    limit = "each call has a CPU-time limit of a few seconds: a call that runs into it counts as wrong."
    assert limit in " ".join(family.statement.split())
    assert set(family.examples()[0]) == set(family.parameters)
    solve(family, family.examples()[0])


def test_the_reference_leaves_its_arguments_alone(family: Any) -> None:
    scope: dict[str, Any] = {}
    exec(family.reference, scope)
    for instance in islice(family.targeted(Random(3)), 60):
        before = canonical(instance)
        scope[family.entry_point](**instance)
        assert canonical(instance) == before


def relabelled(instance: Any, random: Random) -> Any:
    """The same instance under other names of its vertices or states, its lists in another sequence."""
    if "n" in instance:
        names = random.sample(range(instance["n"]), instance["n"])
        edges = [[names[u], names[v], *w] for u, v, *w in instance["edges"]]
        random.shuffle(edges)
        ends = {key: names[value] for key, value in instance.items() if key in ("source", "target")}
        return {**instance, **ends, "edges": edges}
    other = {}
    for key, value in instance.items():
        if not isinstance(value, dict):
            other[key] = value
            continue
        names = random.sample(range(value["states"]), value["states"])
        delta = [[0]] * value["states"]
        for state, row in enumerate(value["delta"]):
            delta[names[state]] = [names[target] for target in row]
        other[key] = {
            **value,
            "start": names[value["start"]],
            "accept": [names[s] for s in value["accept"]],
            "delta": delta,
        }
    return other


@pytest.mark.parametrize(
    "name", ["dag_reachability", "dag_shortest_path", "dfa_string_acceptance", "dfa_product_reachability"]
)
def test_relabelling_keeps_the_canonical_form_and_the_answer(named: Any, name: str) -> None:
    family = named(name)
    for tier in TIERS:
        for index in range(4 if tier == "frontier" else 20):
            instance = family.sample(rng(name, "relabel", tier, index), tier)
            twin = relabelled(instance, rng(index))
            assert canonical(family.canonical(instance, tier)) == canonical(family.canonical(twin, tier))
            if name != "dag_shortest_path":
                assert family.oracle(instance) == family.oracle(twin)


def test_equal_forms_have_equal_answers(family: Any) -> None:
    """In the easy tier, where forms collide all the time; of a path only its weight is free of names."""
    answers: dict[str, str] = {}
    for index in range(600):
        instance = family.sample(rng(family.name, "forms", index), "easy")
        truth = family.oracle(instance)
        answer = truth.answer["weight"] if isinstance(truth.answer, dict) else truth.answer
        form = canonical(family.canonical(instance, "easy"))
        assert answers.setdefault(form, canonical([truth.status, answer])) == canonical([truth.status, answer])


def test_spaces_are_counted_and_samples_reach_all_of_a_small_one(named: Any) -> None:
    reachability = named("dag_reachability")
    assert reachability.space("easy") == 118
    samples = (reachability.sample(rng("space", k), "easy") for k in range(4000))
    forms = {canonical(reachability.canonical(sample, "easy")) for sample in samples}
    assert 105 <= len(forms) <= 118
    assert named("dag_topological_position").space("easy") == 3 * 25 + 4 * 543
    assert named("dag_topological_position").space("frontier") is None
    acceptance = named("dfa_string_acceptance")
    assert acceptance.space("easy") == 924
    seen = {canonical(acceptance.canonical(acceptance.sample(rng("space", k), "easy"), "easy")) for k in range(2000)}
    assert 300 < len(seen) <= 924
    assert all(named(name).space("extreme") is None for name in ("dag_reachability", "dfa_product_reachability"))


REACH, ORDER, COUNT = "dag_reachability", "dag_topological_position", "dfa_string_acceptance"
HARD, OWN = "difficulty.hard.graphs", "domain.graphs.dag_reachability"
BAD = [
    (REACH, f"{HARD}.vertices=[9,4]", f"{HARD}.vertices", "low <= high"),
    (REACH, f"{HARD}.vertices=[6,8.5]", f"{HARD}.vertices", "two integers"),
    (REACH, f"{HARD}.vertices=7", f"{HARD}.vertices", "two integers"),
    (REACH, f"{HARD}.vertices=[true,8]", f"{HARD}.vertices", "two integers"),
    (REACH, f"{HARD}.density=0", f"{HARD}.density", "above 0"),
    (REACH, f"{HARD}.density=many", f"{HARD}.density", "a number"),
    (REACH, f"{HARD}.vertexes=[3,4]", f"{HARD}.vertexes", "allowed are"),
    (REACH, f"{OWN}.vertices=[1,1]", f"{OWN}.vertices", "2 <="),
    (ORDER, f"difficulty.frontier.{ORDER}.n=3", f"difficulty.frontier.{ORDER}.n", "allowed are"),
    ("equilibrium_index", "difficulty.easy.arrays.length=[2,5]", "difficulty.easy.arrays.length", "3 <= low"),
    (COUNT, "difficulty.easy.automata.length=[-1,5]", "difficulty.easy.automata.length", "0 <= low"),
    (COUNT, f"domain.automata.{COUNT}.alphabet=0", f"domain.automata.{COUNT}.alphabet", "from 1 to 64"),
    ("monotonic_split", "domain.arrays.monotonic_split.spread=-1", "domain.arrays.monotonic_split.spread", "from 1 to"),
    (COUNT, "difficulty.easy.automata=3", "difficulty.easy.automata", "mapping"),
]


@pytest.mark.parametrize(("name", "override", "key", "allowed"), BAD)
def test_a_bad_size_is_one_sentence_that_names_the_key(name: str, override: str, key: str, allowed: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - hydra wraps it
        build(name, override)
    error = caught.value.__cause__ or caught.value
    assert isinstance(error, InputError)
    assert key in str(error)
    assert allowed in str(error)
    assert "\n" not in str(error)


ODD_SIZES = [
    ("equilibrium_index", "length", "[3,3]"),
    ("monotonic_split", "length", "[3,3]"),
    ("dag_reachability", "vertices", "[2,2]"),
    ("dag_shortest_path", "vertices", "[2,2]"),
    ("dag_topological_position", "vertices", "[2,2]"),
    ("dfa_string_acceptance", "states", "[1,1]"),
    ("dfa_product_reachability", "states", "[1,8]"),
]


@pytest.mark.parametrize(("name", "size", "bounds"), ODD_SIZES)
def test_sampling_ends_at_unusual_sizes(name: str, size: str, bounds: str) -> None:
    """Few answers are possible there: a draw that aims at others must give up."""
    domain = build(name).domain
    family = build(name, f"domain.{domain}.{name}.{size}={bounds}")
    for index in range(10):
        instance = family.sample(rng(name, "odd", index), "extreme")
        assert family.fits(instance, "extreme")
        assert family.oracle(instance).status in ("unique", "ambiguous")


def test_the_last_word_on_a_size_wins() -> None:
    family = build("dag_topological_position")
    assert family.levels["frontier"].vertices == (50, 100)
    assert build("dag_reachability").levels["frontier"].vertices == (80, 200)
    own = build("dag_topological_position", "domain.graphs.dag_topological_position.vertices=[5,6]")
    assert {level.vertices for level in own.levels.values()} == {(5, 6)}
    assert digest(own.sample(rng(1), "easy"))


@pytest.mark.parametrize("name", ["dag_reachability", "dag_shortest_path"])
def test_canonical_forms_are_exact_in_every_tier(named: Any, name: str) -> None:
    family = named(name)
    for tier in family.tiers:
        for index in range(10 if tier == "frontier" else 60):
            instance = family.sample(rng("exact", name, tier, index), tier)
            assert "by colour" not in family.canonical(instance, tier)
