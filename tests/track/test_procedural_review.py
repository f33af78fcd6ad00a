"""Procedural review cases: real bugs with a witness, harmless twins, and a grader that runs what a review claims."""

import ast
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proceval.audit.standard import Standard
from proceval.errors import InputError
from proceval.folder import RunFolder
from proceval.schema import ReviewCase
from proceval.scorer.finding import FIELDS, Claim, Finding, Found, Key, _compared, key_of, read
from proceval.track.procedural import refactor
from proceval.track.procedural.make import FACTS, SUITE, Procedural
from proceval.track.procedural.review import TIERS
from proceval.track.review_suite import Suite, load
from sandbox import wire
from sandbox.contract import Result
from tests.track import workbench

COUNT = 18


def _made(run: RunFolder, path: Path, audit: Any, *, seed: int | str = 0, count: int = COUNT) -> Path:
    folder = workbench.run_folder(path, run.dataset)
    track = SimpleNamespace(mode="review", proved=False)
    maker = Procedural(track=track, families=workbench.FEW, audit=audit, seed=seed, count=count)
    maker.check(folder)
    said: list[str] = []
    assert maker.run(folder, said.append) == 0
    assert said[0].startswith(f"generate {count} review cases from proved mutants: ")
    return folder.path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, standard: Standard) -> RunFolder:
    return workbench.audited_run(tmp_path_factory.mktemp("mutants") / "run", standard)


@pytest.fixture(scope="module")
def made(run: RunFolder, tmp_path_factory: pytest.TempPathFactory, standard: Standard) -> Path:
    return _made(run, tmp_path_factory.mktemp("reviews") / "made", standard)


@pytest.fixture(scope="module")
def suite(made: Path) -> Suite:
    return load(made / SUITE, "*")


@pytest.fixture(scope="module")
def finding(box: Any) -> Iterator[Finding]:
    grader = Finding(sandbox=box, families=workbench.FEW)
    yield grader
    grader.close()


def _twins(suite: Suite) -> list[tuple[ReviewCase, ReviewCase]]:
    """(with the bug, without it)"""
    by_name = {case.family: case for case in suite.cases}
    return [(case, by_name[str(case.twin)]) for case in suite.cases if key_of(case).truth == "bug"]


def _grade(finding: Finding, case: ReviewCase, review: str) -> Found:
    return asyncio.run(finding.grade(case, review))


def _ending(claim: Any) -> str:
    return f"Some words.\n\n```json\n{json.dumps(claim)}\n```\n"


def test_half_the_cases_are_wrong_in_every_tier_and_all_differ(suite: Suite) -> None:
    truths = Counter((case.difficulty, key_of(case).truth) for case in suite.cases)
    assert truths == {(tier, truth): COUNT // 6 for tier in TIERS for truth in ("bug", "harmless")}
    assert len({case.files[0].content for case in suite.cases}) == COUNT
    assert len({case.id for case in suite.cases}) == COUNT


def test_a_bug_is_as_rare_as_its_tier_says_on_all_small_instances(suite: Suite) -> None:
    """Counted again here by running both files on each of them."""
    for case, _ in _twins(suite):
        key = key_of(case)
        family = workbench.FEW[key.family]
        shown = total = 0
        for instance in family.small():
            truth = family.oracle(instance)
            if truth.status == "unique":
                total += 1
                shown += _outcome(case, instance) != (truth.answer, type(truth.answer))
        low, high, _ = TIERS[case.difficulty]
        assert key.revealed_by == pytest.approx(shown / total, abs=1e-4)
        assert low <= shown / total < high


def _outcome(case: ReviewCase, instance: Any) -> Any:
    """What the file gives, or the name of what it raises; a bug may go on for ever on some instances."""
    names: dict[str, Any] = {}
    exec(case.files[0].content, names)
    left = iter(range(20_000))

    def step(*_: Any) -> Any:
        next(left)
        return step

    sys.settrace(step)
    try:
        value = names[key_of(case).entry_point](**json.loads(json.dumps(instance)))
    except Exception as error:  # noqa: BLE001 - whatever a mutant raises
        return type(error).__name__
    finally:
        sys.settrace(None)
    return value, type(value)


def test_twins_differ_where_the_key_says_and_nowhere_else(suite: Suite) -> None:
    for case, twin in _twins(suite):
        honest, buggy = twin.files[0].content, case.files[0].content
        [change] = refactor.changes(honest, buggy)
        assert key_of(case).lines == change.lines
        assert key_of(case).rewritings == key_of(twin).rewritings
        assert len(key_of(case).rewritings) == TIERS[case.difficulty][2]
        assert twin.twin == case.family
        ast.parse(honest)


def test_the_witness_is_a_claim_that_holds_and_it_fails_on_the_twin(suite: Suite, finding: Finding) -> None:
    for case, twin in _twins(suite):
        witness = key_of(case).witness
        found = _grade(finding, case, _ending(witness))
        assert (found.passed, found.rule) == (True, "holds"), (case.family, found.detail)
        assert [(g.id, g.passed, g.weight) for g in found.grades] == [("finding", True, 1.0), ("line", True, 0.0)]
        other = _grade(finding, twin, _ending(witness))
        assert (other.passed, other.rule) == (False, "no_fault"), other.detail


def test_nothing_wrong_is_right_for_the_harmless_twin_alone(suite: Suite, finding: Finding) -> None:
    for case, twin in _twins(suite):
        for review in ("I see nothing.\n\nnull", "Fine.\n```json\nnull\n```\n"):
            assert _grade(finding, case, review).rule == "missed"
            assert _grade(finding, twin, review).passed is True


def test_harmless_cases_carry_proved_edits(suite: Suite) -> None:
    proofs = [key_of(twin).proof for _, twin in _twins(suite)]
    assert sum(proof is not None for proof in proofs) >= COUNT // 6
    for case in suite.cases:
        proof = key_of(case).proof
        if proof is not None:
            lines = {line.strip() for line in case.files[0].content.splitlines()}
            assert proof["method"] in ("smt", "symbolic-bounded", "finite-complete", "lemma+exhaustive")
            assert set(proof["lines"]) <= lines, "an edit that is not in the file is no excuse"
            assert proof["lines"] or proof["missing"]


def test_what_a_reviewer_sees_does_not_tell_which_twin_it_is(suite: Suite) -> None:
    firsts = Counter(key_of(case).truth for case in suite.cases if case.family.endswith("-a"))
    assert set(firsts) == {"bug", "harmless"}, "the order of the twins gives it away"
    for case, twin in _twins(suite):
        assert case.prompt == twin.prompt
        assert case.files[0].path == twin.files[0].path
        assert json.dumps(key_of(case).witness)[1:-1] not in case.prompt


def test_equal_seeds_give_equal_bytes_and_others_share_nothing(
    run: RunFolder, made: Path, tmp_path: Path, standard: Standard
) -> None:
    again = _made(run, tmp_path / "again", standard)
    assert _bytes(again) == _bytes(made)
    named = load(_made(run, tmp_path / "named", standard, seed="autumn", count=6) / SUITE, "*")
    texts = {case.files[0].content for case in load(made / SUITE, "*").cases}
    assert len(texts & {case.files[0].content for case in named.cases}) <= 1


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_an_odd_count_leaves_one_case_without_its_twin(run: RunFolder, tmp_path: Path, standard: Standard) -> None:
    suite = load(_made(run, tmp_path / "odd", standard, count=3) / SUITE, "*")
    assert sorted(case.twin is None for case in suite.cases) == [False, False, True]


def test_what_stands_is_not_made_again(run: RunFolder, made: Path, standard: Standard) -> None:
    before = (made / FACTS).stat().st_mtime_ns
    maker = Procedural(
        track=SimpleNamespace(mode="review"), families=workbench.FEW, audit=standard, seed=0, count=COUNT
    )
    maker.run(workbench.run_folder(made, run.dataset), lambda line: None)
    assert (made / FACTS).stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("dataset", "count", "families", "words"),
    [
        (None, 4, workbench.FEW, "give dataset=FOLDER"),
        ("run", {"monotonic_split": 3}, workbench.FEW, "takes one number"),
        ("run", 4, {}, "choose its domain="),
        ("bare", 4, workbench.FEW, "run stage=audit dataset="),
        ("run", 100_000, workbench.FEW, "count=100000: the material yields no"),
    ],
)
def test_bad_input_is_one_sentence(
    dataset: str | None, count: Any, families: Any, words: str, run: RunFolder, tmp_path: Path, standard: Standard,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if count == 100_000:
        monkeypatch.setattr("proceval.track.procedural.review._drawn", lambda *_: None)
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "dataset.jsonl").write_bytes((Path(run.dataset) / "dataset.jsonl").read_bytes())
    given = {None: None, "run": run.dataset, "bare": str(bare)}[dataset]
    folder = workbench.run_folder(tmp_path / "out", given)
    maker = Procedural(track=SimpleNamespace(mode="review"), families=families, audit=standard, seed=0, count=count)

    def run_it() -> None:
        maker.check(folder)
        maker.run(folder, lambda line: None)

    with pytest.raises(InputError) as caught:
        run_it()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (folder.path / SUITE).exists()


# ------------------------------------------------------------------------------------ what a review may claim


def _case(suite: Suite, family: str, truth: str) -> ReviewCase:
    return next(case for case in suite.cases if key_of(case).family == family and key_of(case).truth == truth)


def test_claims_that_do_not_hold(suite: Suite, finding: Finding) -> None:
    case = next(case for case, _ in _twins(suite) if not isinstance((key_of(case).witness or {})["actual"], str))
    witness = dict(key_of(case).witness or {})
    right = witness["expected"]
    for changes, rule in [
        ({"expected": witness["actual"], "actual": right}, "wrong_expected"),
        ({"expected": [right]}, "wrong_expected"),
        ({"actual": "raises ValueError"}, "wrong_actual"),
        ({"actual": right}, "wrong_actual"),
        ({"input": {}}, "outside_contract"),
        ({"input": [1, 2]}, "outside_contract"),
        ({"input": {**witness["input"], "extra": 1}}, "outside_contract"),
        ({"input": dict.fromkeys(witness["input"])}, "outside_contract"),
    ]:
        found = _grade(finding, case, _ending({**witness, **changes}))
        assert (found.passed, found.rule) == (False, rule), found.detail
    for line, near in (
        (key_of(case).lines[0] + 1, True),
        (key_of(case).lines[-1] + 2, False),
        ("7", False),
        (None, False),
    ):
        found = _grade(finding, case, _ending({**witness, "line": line}))
        assert found.passed is True, "the line decides nothing"
        assert found.grades[1].passed is near


def test_types_are_part_of_a_claim(suite: Suite, finding: Finding) -> None:
    case = next(case for case, _ in _twins(suite) if isinstance((key_of(case).witness or {})["expected"], int))
    witness = dict(key_of(case).witness or {})
    assert _grade(finding, case, _ending({**witness, "expected": float(witness["expected"])})).rule == "wrong_expected"


def test_a_claim_outside_the_contract_is_no_bug(finding: Finding, suite: Suite) -> None:
    for family, given in [
        ("monotonic_split", {"array": [3, 1], "target": 2}),
        ("monotonic_split", {"array": [1, 2], "target": 3}),
        ("dag_reachability", {"n": 2, "edges": [[0, 1], [1, 0]], "source": 0}),
        ("dag_reachability", {"n": True, "edges": [], "source": 0}),
    ]:
        claim = {"line": 1, "input": given, "expected": 0, "actual": 1}
        found = _grade(finding, _case(suite, family, "bug"), _ending(claim))
        assert (found.passed, found.rule) == (False, "outside_contract"), found.detail


def test_a_claim_that_would_take_for_ever_is_cut_off_and_the_next_is_graded(suite: Suite, finding: Finding) -> None:
    case = _case(suite, "dag_reachability", "harmless")
    huge = {"n": 10**9, "edges": [], "source": 0}
    assert _grade(finding, case, _ending({"line": 1, "input": huge, "expected": 1, "actual": 2})).passed is False
    assert _grade(finding, case, "null").passed is True


def test_a_harmless_case_that_a_claim_refutes_is_nobodys_failure(suite: Suite, finding: Finding) -> None:
    case, _ = _twins(suite)[0]
    wrong = case.model_copy(update={"key": {**case.key, "truth": "harmless"}})
    found = _grade(finding, wrong, _ending(case.key["witness"]))
    assert (found.passed, found.rule, found.grades) == (None, "refuted", ())


SPLIT = {"array": [1, 3], "target": 2}
ENDLESS = "    while True:\n        pass\n"
HUNGRY = "    return [0] * (1 << 40)\n"


@pytest.mark.parametrize(
    ("body", "truth", "says", "actual", "rule"),
    [
        (ENDLESS, "harmless", "timeout", "timeout", "too_large"),
        (ENDLESS, "bug", "other", "timeout", "too_large"),
        (ENDLESS, "bug", "timeout", "timeout", "holds"),
        (ENDLESS, "bug", "timeout", "memory", "wrong_actual"),
        (HUNGRY, "harmless", "memory", "memory", "too_large"),
        (HUNGRY, "bug", "timeout", "timeout", "too_large"),
        (HUNGRY, "bug", "memory", "timeout", "wrong_actual"),
        (HUNGRY, "bug", "memory", "memory", "holds"),
    ],
)
def test_running_out_shows_a_bug_only_where_the_key_says_so(
    body: str, truth: str, says: str, actual: str, rule: str, suite: Suite, finding: Finding, box: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """`says` is what the key's witness does; a harmless case is never refuted by a slow or hungry file."""
    if body == ENDLESS and says == "timeout" and truth == "bug":
        longer = SimpleNamespace(limits=replace(box.limits, cpu_s=2.0), arun=box.arun)
        monkeypatch.setattr(finding, "_sandbox", longer)
    case = _case(suite, "monotonic_split", "bug")
    key = key_of(case)
    text = f"def {key.entry_point}(array, target):\n{body}"
    wrong = case.model_copy(
        update={
            "files": (case.files[0].model_copy(update={"content": text}),),
            "key": {**case.key, "truth": truth, "witness": {"input": SPLIT, "expected": 1, "actual": says}},
        }
    )
    found = _grade(finding, wrong, _ending({"line": 2, "input": SPLIT, "expected": 1, "actual": actual}))
    assert found.rule == rule, found.detail
    assert found.passed is (rule == "holds")


def test_a_slow_file_is_no_bug_where_the_reference_is_slow_as_well() -> None:
    key = Key.model_construct(truth="bug", witness={"actual": "timeout"}, lines=(2,))
    claim = Claim(2, {}, 1, "timeout")
    for reference_s, rule in ((0.05, "holds"), (0.2, "too_large")):
        expected = Result("returned", wire.encode(1), cpu_s=reference_s)
        assert _compared(key, claim, expected, Result("timeout", cpu_s=2.1)).rule == rule


def test_the_place_of_a_missing_statement_is_between_two_lines() -> None:
    """One line beside the wrong one will do, on either side."""
    for lines, near in (((31, 32), {30, 31, 32, 33}), ((31,), {30, 31, 32})):
        key = Key.model_construct(truth="bug", witness=None, lines=lines)
        told = Result("returned", wire.encode(1)), Result("returned", wire.encode(2))
        graded = {line: _compared(key, Claim(line, {}, 1, 2), *told).grades[1].passed for line in range(28, 36)}
        assert {line for line, passed in graded.items() if passed} == near


CLAIM = {"line": 3, "input": {"x": [1, {"y": "}"}]}, "expected": None, "actual": "raises KeyError"}
TEXT = json.dumps(CLAIM)


@pytest.mark.parametrize(
    "review",
    [
        TEXT,
        f"Words with {{braces}} and `{{}}`.\n{TEXT}\n\n",
        f"```json\n{TEXT}\n```",
        f"~~~\n{json.dumps(CLAIM, indent=2)}\n~~~\n",
        f"<think>null</think>\nIt is line 3.\r\n{TEXT}\r\n",
        'First I thought {"line": 1, "input": {}, "expected": 1, "actual": 2}, but no:\n' + TEXT,
    ],
)
def test_a_review_ends_in_a_claim(review: str) -> None:
    assert vars(read(review)) == CLAIM


@pytest.mark.parametrize(
    ("review", "words"),
    [
        ("", "does not end"),
        (f"{TEXT}\nThat is all.", "does not end"),
        ("[1, 2]", "does not end"),
        ("is this nonnull", "does not end"),
        ('{"line": 1, "input": {"a": NaN}, "expected": 1, "actual": 2}', "does not end"),
        ('{"line": 1, "line": 2, "input": {}, "expected": 1, "actual": 2}', "does not end"),
        ('{"line": 1, "input": {}, "expected": 1}', "exactly"),
        ('{"line": 1, "input": {}, "expected": 1, "actual": 2, "why": "x"}', "exactly"),
        ('{"line": 1, "input": null, "expected": 1, "actual": 2}', "ends in null"),
        ("<think>null", "never ends"),
        ('{"a":' * 30_000, "does not end"),
    ],
)
def test_an_end_that_cannot_be_read_says_why(review: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(review)


def test_a_key_that_is_not_as_it_must_be_names_the_case(suite: Suite, finding: Finding) -> None:
    case = suite.cases[0]
    for changes, words in [
        ({"truth": "maybe"}, "truth"),
        ({"colour": "red"}, "colour"),
        ({"family": "nowhere"}, "choose its domain="),
        ({"file": "other.py"}, "other.py"),
    ]:
        with pytest.raises(InputError, match=words) as caught:
            finding.check([case.model_copy(update={"key": {**case.key, **changes}})])
        assert case.family in str(caught.value)
    finding.check(suite.cases)
    assert tuple(CLAIM) == FIELDS
