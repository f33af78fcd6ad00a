"""The walls of the house, held by tests: import direction, third-party doors, sizes, exception habits."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = "proceval/track/agent_cases/"
"""Small projects with planted faults, for agents to mend: data, not code of ours."""
SOURCES = sorted(
    path
    for path in [*ROOT.glob("proceval/**/*.py"), *ROOT.glob("sandbox/**/*.py")]
    if not path.relative_to(ROOT).as_posix().startswith(FIXTURES)
)
DOORS = {
    "z3": ("proceval/prover/", "proceval/release/recheck.py"),  # a file for strangers, who have no prover/
    "cvc5": ("proceval/prover/", "proceval/release/recheck.py"),
    "litellm": ("proceval/model/",),
    "wandb": ("proceval/tracker/",),
    "seaborn": ("proceval/report/",),
    "matplotlib": ("proceval/report/",),
    "streamlit": ("proceval/console/",),
    "plotly": ("proceval/console/",),
    "hydra": (
        "proceval/config.py",
        "proceval/main.py",
        "proceval/ids.py",
        "proceval/grammar.py",
        "proceval/sweeping.py",
    ),
    "subprocess": ("sandbox/", "proceval/release/recheck.py", "proceval/provenance.py"),  # git alone knows edited files
    "signal": ("sandbox/", "proceval/main.py", "proceval/__main__.py"),
}
BORDERS = {
    "proceval/engine/requests.py": 1,  # a client that breaks gave no answer: the provider's row
    "proceval/engine/run.py": 1,  # a scorer or track that breaks is the judge's fault: another owner, another row
    "proceval/audit/runner.py": 2,  # a mutant, loaded and called: whatever it raises is its outcome
    "sandbox/guest.py": 4,  # hostile code, loaded and called, its __str__, its stdout
    "sandbox/worker.py": 1,  # the border of a process: what is raised there is told to the parent
    "sandbox/waiting.py": 1,  # a driver of steps: it is raised again where the result is awaited
}
"""Everything is caught in these places and nowhere else."""
HEAVY = {"z3", "cvc5", "litellm", "wandb", "seaborn", "matplotlib", "pandas", "pyarrow", "numpy", "streamlit"}
SCRIPTS = ("proceval/main.py", "proceval/console/app.py", "proceval/console/tabs/")
"""Nothing imports these: they are run, and may say at the top what they need."""


def test_imports_go_downward_only() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_keeps_the_house_rules(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    tree = ast.parse(text)
    assert path.name not in ("utils.py", "common.py", "helpers.py"), "a helper lives where its noun lives"
    assert text.count("\n") <= 350, f"{name} has {text.count(chr(10))} lines"
    assert ast.get_docstring(tree) is not None or not tree.body, f"{name} needs a module docstring"
    top_level = {id(node) for node in tree.body}
    broad = [
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    ]
    assert len(broad) == BORDERS.get(name, 0), f"{name} catches everything in lines {broad}"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno <= 70, f"{name}: {node.name} is too long"
        for module in _imported(node):
            doors = DOORS.get(module)
            assert doors is None or name.startswith(doors), f"{name}:{node.lineno} imports {module}"
            if module in HEAVY and not name.startswith(SCRIPTS):
                assert id(node) not in top_level, f"{name}:{node.lineno} imports {module} before it is used"


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or getattr(kind, "id", "") in ("Exception", "BaseException") for kind in kinds)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module.partition(".")[0]]
    return []


def test_no_committed_file_names_a_registry_or_a_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    hosts = re.compile(
        "|".join(("py" + r"pi\.org", "python" + "hosted", "registry" + r"\.npmjs", "deb" + r"\.debian\.org"))
    )
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if name and path.is_file() and path.suffix in (".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".cfg", ""):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not hosts.search(text), f"{name} names a registry host"
            assert str(ROOT) + "/" not in text, f"{name} names a path of this machine"
