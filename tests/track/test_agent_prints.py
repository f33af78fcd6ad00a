"""What a command must print: known on the host alone, compared there, and read as strictly as everything else."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import proceval
from proceval import config
from proceval.errors import InputError
from proceval.model.scripted_agent import ScriptedAgent
from proceval.schema import Grade
from proceval.scorer.expectations import Exam, Expectations
from proceval.scorer.printed import unlike
from proceval.track.agent_suite import Suite, load
from tests.arena import Endpoint, http_model
from tests.track import yard
from tests.track.yard import calling

CASE = """\
- id: add
  fixture: one
  turns: [Make add.py print the sum of its two arguments.]
  expect:
    prints: {run: python3 -P add.py 40 2 && python3 -P add.py -1 1, is: sums}
    checks:
      - {id: thrice, weight: 3, prints: {run: python3 -P add.py 1 2, is: more/three}}
      - {id: file, verify: test -e add.py}
"""
RIGHT = "import sys\nprint(int(sys.argv[1]) + int(sys.argv[2]))\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for path, text in {
        "cases/sum.yml": CASE,
        "fixtures/one/README.md": "Sums.\n",
        "expected/sums.txt": "42\n0\n",
        "expected/more/three.txt": "3",
        "expected/empty.txt": "",
        "expected/blank.txt": "\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "expected" / "latin.txt").write_bytes(b"a\n\xe9\n")
    return tmp_path


@pytest.fixture
def read(home: Path) -> Callable[[str], Suite]:
    def read(text: str) -> Suite:
        (home / "cases" / "sum.yml").write_text(text)
        return load(home / "cases", None, "*")

    return read


def test_one_several_and_weighty_ones_are_read(home: Path, read: Callable[[str], Suite]) -> None:
    (case,) = read(CASE).cases
    assert [(c.id, c.kind, c.weight, c.expected) for c in case.checks] == [
        ("prints", "prints", 1.0, "42\n0\n"),
        ("thrice", "prints", 3.0, "3"),
        ("file", "verify", 1.0, None),
    ]
    several = "prints: [{run: a, is: sums}, {run: b, is: more/three}]"
    (listed,) = read(
        CASE.replace("prints: {run: python3 -P add.py 40 2 && python3 -P add.py -1 1, is: sums}", several)
    ).cases
    assert [(c.id, c.text) for c in listed.checks[:2]] == [("prints-1", "a"), ("prints-2", "b")]
    (home / "expected" / "sums.txt").write_text("43\n0\n")
    assert read(CASE).cases[0].id != case.id, "what must be printed is part of the case"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("{run: a}", "line 5: prints has no is"),
        ("{is: sums}", "line 5: prints has no run"),
        ("{run: a, is: sums, exit: 1}", "line 5: unknown key exit in prints"),
        ("{run: a, is: nothing}", "line 5: is nothing: there is no "),
        ("{run: a, is: ../sums}", "line 5: is ../sums is no plain name"),
        ("{run: '', is: sums}", "line 5: run is empty"),
        ("{run: a, is: 42}", "line 5: is must be a text"),
        ("python3 add.py", "line 5: prints must be a mapping"),
        ("[]", "line 5: prints is an empty list"),
        ("[{run: a, is: sums}, {run: b}]", "line 5: prints 2 has no is"),
        ("{run: a, is: empty}", "empty.txt, line 1: empty"),
        ("{run: a, is: blank}", "blank.txt, line 1: empty"),
        ("{run: a, is: latin}", "latin.txt, line 2: not UTF-8"),
    ],
)
def test_a_mistake_has_its_file_and_line(read: Callable[[str], Suite], given: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read(CASE.replace("{run: python3 -P add.py 40 2 && python3 -P add.py -1 1, is: sums}", given))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("expected", "printed", "says"),
    [
        ("a\nb\n", b"a\nb\n", None),
        ("a\nb\n", b"a\nb", None),
        ("a\nb", b"a\nb\n", None),
        ("a\n", b"a\n\n", 'line 2 is one too many: ""'),
        ("a\n", b"a \n", 'line 1 is "a ", not "a"'),
        ("a\n", b"a\r\n", 'line 1 is "a\\r", not "a"'),
        ("a\nb\n", b"a\n", 'line 2 is missing: "b"'),
        ("a\n", b"", 'line 1 is missing: "a"'),
        ("a\n", b"\n", 'line 1 is missing: "a"'),
        ("a\u2028b", "a\u2028b".encode(), None),
        ("a\n", b"\x1b[2Ja\n", 'line 1 is "\\x1b[2Ja", not "a"'),
        ("a\n", b"a\n\xff\n", "line 2 of the output is not UTF-8 text: invalid start byte"),
        ("x" * 300 + "a", b"x" * 300 + b"b", f'line 1 from character 281 is "{"x" * 20}b", not "{"x" * 20}a"'),
        ("b" * 300, b"a" * 300, f'line 1 is "{"a" * 97}...", not "{"b" * 97}..."'),
    ],
)
def test_the_first_line_that_differs_is_named(expected: str, printed: bytes, says: str | None) -> None:
    assert unlike(expected, printed) == says


LEFT = {
    "right": (RIGHT, None),
    "prints more": (RIGHT + "print('done')\n", 'line 2 is "done", not "0"'),
    "prints nothing": ("", 'line 1 is missing: "42"'),
    "closes its output": ("import os\nos.close(1)\n" + RIGHT, "exit 1"),
    "fails": (RIGHT + "sys.exit(3)\n", "exit 3"),
    "kills who started it": ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n", "killed"),
    "prints no text": ("import os\nos.write(1, b'42\\n\\xff')\n", "line 2 of the output is not UTF-8 text"),
    "prints too much": ("import os\nwhile True:\n    os.write(1, b'x' * 65536)\n", "output limit"),
    # What it left behind keeps the output open: nobody waits for it.
    "leaves a daemon": (
        RIGHT + "sys.stdout.flush()\nimport os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n",
        None,
    ),
    "leaves a daemon that prints": (
        "import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    for _ in range(9000):\n"
        "        os.write(1, b'0\\n')\n        time.sleep(0.001)\ntime.sleep(0.3)\n",
        "line 1 is",
    ),
    "writes on others' output": (
        "import glob, os\nfor path in glob.glob('/proc/[0-9]*/fd/1'):\n    try:\n"
        "        open(path, 'w').write('3\\n')\n    except OSError:\n        pass\n",
        'line 1 is missing: "42"',  # /proc is read-only
    ),
    "looks around": (
        "import glob\nseen = []\nfor path in [*glob.glob('/proc/*/cmdline'), *glob.glob('/proc/*/environ'),\n"
        "             *glob.glob('/workspace/**', recursive=True), *glob.glob('/tmp/**', recursive=True)]:\n"
        "    try:\n        seen.append(open(path, errors='replace').read())\n    except OSError:\n        pass\n"
        "print('42' if '42\\n0' in ''.join(seen) else 'not found')\n",
        'line 1 is "not found", not "42"',
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_printed_decides_and_nothing_that_is_done_besides(home: Path, box: Any, name: str) -> None:
    content, says = LEFT[name]
    grade = graded(load(home / "cases", None, "*"), {"add.py": content}, box)["prints"]
    assert grade.passed is (says is None), grade.evidence
    assert (says or "prints passed (exit 0)") in grade.evidence
    assert "\n" not in grade.evidence


def graded(suite: Suite, files: dict[str, str], box: Any) -> dict[str, Grade]:
    """The grades of the one case for a workspace with these files, without the model."""
    workshop = config.build(yard._node(), "track").workshop

    async def grade() -> dict[str, Grade]:
        (case,) = suite.cases
        async with workshop.open(suite.fixture(case)) as workspace:
            for path, text in files.items():
                workspace.write(path, text.encode())
            left = workspace.pack(workshop.most_bytes)
        exam = Exam(suite.fixture(case), suite.hidden_files(case), suite.secret)
        found = await Expectations(sandbox=box, workshop=workshop).grade(case, exam, left, "")
        return {grade.id: grade for grade in found.grades}

    return asyncio.run(grade())


def test_the_user_is_told_the_line_and_the_model_nothing(
    home: Path, endpoint: Endpoint, box: Any, tmp_path: Path
) -> None:
    endpoint.script(
        message=[calling(("write", {"path": "add.py", "content": RIGHT.replace("+", "-")})), {"content": "ok"}]
    )
    made = yard.track(home / "cases", "*")
    _, (verdict,) = yard.run(made, tmp_path / "run", http_model(endpoint.base_url), box)
    assert verdict.outcome == "failed"
    assert verdict.score == pytest.approx(1 / 5)
    assert verdict.detail.startswith('prints failed (line 1 is "38", not "42"): python3 -P add.py 40 2')
    asked = str(endpoint.stats()["bodies"])
    assert "42" not in asked.replace("argv", "")
    assert "prints" not in asked


def test_keys_beside_a_programme_that_is_shown_are_covered(home: Path, box: Any) -> None:
    """Where suite and agent are installed in one folder, commands see the agent alone."""
    suite = load(home / "cases", None, "*")
    home.chmod(0o755)
    for path in home.rglob("*"):
        path.chmod(0o755)
    node = yard._node()
    workshop = config.build(node | {"workspace": node["workspace"] | {"programmes": [str(home)]}}, "track").workshop

    async def seen(**more: Any) -> str:
        async with workshop.open(None, **more) as workspace:
            return str((await workspace.arun(f"cd {home} && find . -type f | sort; cat fixtures/one/README.md")).stdout)

    assert "./expected/sums.txt" in asyncio.run(seen())
    assert asyncio.run(seen(covered=suite.secret)) == "./fixtures/one/README.md\nSums.\n"


def test_our_own_suites_are_covered_where_proceval_is_installed_among_the_programmes() -> None:
    package, node = Path(proceval.__file__).resolve().parent, yard._node()
    workshop = config.build(
        node | {"workspace": node["workspace"] | {"programmes": [str(package.parent)]}}, "track"
    ).workshop

    async def seen() -> str:
        async with workshop.open(None) as workspace:
            return str((await workspace.arun(f"test -d {package} && find {package} | wc -l")).stdout)

    assert asyncio.run(seen()) == "1\n"


def test_runs_that_lie_among_programmes_are_hidden_from_their_own_agents(
    home: Path, box: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """cases.jsonl and records hold what is expected, also those of earlier runs."""
    (programme := tmp_path_factory.mktemp("programme")).chmod(0o755)
    (programme / "outputs/run").mkdir(parents=True)
    (programme / "outputs/earlier.jsonl").write_text("42\n")
    (programme / "tool").write_text("tool\n")
    node = yard._node()
    node = node | {"cases_dir": str(home / "cases"), "workspace": node["workspace"] | {"programmes": [str(programme)]}}
    made = config.build(node, "track")
    made.cases(SimpleNamespace(outputs=programme / "outputs", path=programme / "outputs/run"))

    async def seen() -> str:
        async with made.workshop.open(None) as workspace:
            return str((await workspace.arun(f"cd {programme} && find . | sort")).stdout)

    assert asyncio.run(seen()) == ".\n./outputs\n./tool\n"
    with pytest.raises(InputError, match=f"outputs={programme}: .*give an outputs= of its own"):
        made.cases(SimpleNamespace(outputs=programme, path=programme / "run"))


def test_the_peeking_agent_finds_what_is_within_reach_and_nothing_else(tmp_path: Path, box: Any) -> None:
    """It is the measure of our own cases, so it must be good at what it does."""
    common = "  fixture: one\n  turns: [Make add.py print 42.]\n  hidden: h\n"
    checks = {
        "literal": "verify: test \"$(python3 -P add.py)\" = \"42\"",
        "hidden-file": "verify: test \"$(python3 -P add.py)\" = \"$(cat check/expected.txt)\"",
        "compared-files": "verify: python3 -P add.py check/in.txt out.txt && cmp out.txt check/out.txt",
        "status": "verify: python3 -P add.py",
        "out-of-reach": "prints: {run: python3 -P add.py, is: answer}",
    }  # fmt: skip
    for path, text in {
        "cases/reach.yml": "".join(f"- id: {n}\n{common}  expect:\n    {check}\n" for n, check in checks.items()),
        "fixtures/one/README.md": "Answers.\n",
        "hidden/h/check/expected.txt": "42\n",
        "hidden/h/check/in.txt": "1\n",
        "hidden/h/check/out.txt": "2\n",
        "expected/answer.txt": "43\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    model = ScriptedAgent(id="peeking", behaviour="peeking")
    _, verdicts = yard.run(yard.track(tmp_path / "cases", "*"), tmp_path / "run", model, box)
    assert {v.family.partition("/")[2]: v.outcome for v in verdicts} == dict.fromkeys(checks, "passed") | {
        "out-of-reach": "failed"
    }
