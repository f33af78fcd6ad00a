"""Every probe of attacks.json against every sandbox, one property a test; what `process` misses is asserted, too."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import shooting_range

PROBES = json.loads((Path(__file__).parent / "attacks.json").read_text())["probes"]
BY_ID = {probe["id"]: probe for probe in PROBES}
MISSED_BY_PROCESS = {probe["id"] for probe in PROBES if probe.get("process") == "misses"}
"""What `process` cannot catch; the README lists the same."""
UNCERTAIN_FOR_PROCESS = {probe["id"] for probe in PROBES if probe.get("process") == "depends"}
"""Depends on the machine, the user or the speed."""
MISSED_WITHOUT_NAMESPACES = {"fill_the_disk", "many_files"}
"""No quota there, and the layer is named as missing; the second depends on the speed."""


def verdict(probe, report):
    assert probe["passes"] in (None, report["passed"]), report["shown"]


def outcome(probe, report):
    assert report["kinds"][0] in probe.get("outcomes", report["kinds"]), report["shown"]


def never_a_fault(probe, report):
    assert report["fault"] is None
    assert len(report["kinds"]) == len(probe["inputs"])


def no_secret_comes_out(probe, report):
    assert not report["leaked"], report["shown"]


def no_survivor(probe, report):
    assert report["survivors"] == []


def bystanders_unharmed(probe, report):
    assert report["harm"] == []


def bounded(probe, report):
    assert report["wall_s"] <= report["wall_allowed_s"]
    assert report["memory_kb"] < 300 << 10
    assert report["files"] < 1000
    assert report["file_bytes"] < 32 << 20


def next_execution_works(probe, report):
    assert report["next"] == [["returned", "2"]]


PROPERTIES = [
    verdict,
    outcome,
    never_a_fault,
    no_secret_comes_out,
    no_survivor,
    bystanders_unharmed,
    bounded,
    next_execution_works,
]


def caught(probe, report):
    """Whether all properties hold."""
    if report.get("died"):
        return False
    try:
        for check in PROPERTIES:
            check(probe, report)
    except AssertionError:
        return False
    return True


def somebody_elses_python():
    """An interpreter that an ordinary user can start, if need be not ours."""
    for path in (os.path.realpath(sys.executable), shutil.which("python3", path="/usr/local/bin:/usr/bin")):
        if path is None:
            continue
        new_enough = "import ctypes, json, socket, sys; sys.exit(sys.version_info < (3, 11))"
        nobody = shooting_range.NOBODY
        user = {"user": nobody, "group": nobody, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            if subprocess.run([path, "-c", new_enough], capture_output=True, **user).returncode == 0:
                return path
        except OSError:
            continue
    return None


@functools.cache
def reports(column):
    """All reports of a column, made once; or the reason why there are none."""
    python = (
        somebody_elses_python() if column in shooting_range.NEED_A_PUBLIC_PYTHON else os.path.realpath(sys.executable)
    )
    if python is None:
        return "no interpreter of 3.11 or later that an ordinary user could start"
    possible = subprocess.run(shooting_range.throw_away(["true"]), capture_output=True)
    if possible.returncode:
        return f"no throw-away host here: {possible.stderr.decode()[-200:]}"
    return shooting_range.fire(column, python, PROBES)


def report_on(column, probe_id):
    found = reports(column)
    if isinstance(found, str):
        (pytest.fail if "shooting range" in found else pytest.skip)(found)
    return found[probe_id]


def survived_report_on(column, probe_id):
    report = report_on(column, probe_id)
    assert not report.get("died"), "the probe took the harness with it"
    return report


def needs_full_isolation(report):
    missing = [layer for layer in report["missing_layers"] if not layer.startswith("own user")]
    if missing:
        pytest.skip(f"this machine lacks: {'; '.join(missing)}")


every_probe = pytest.mark.parametrize("probe_id", list(BY_ID))
every_property = pytest.mark.parametrize("check", PROPERTIES, ids=lambda check: check.__name__)


@every_probe
@every_property
def test_isolated(check, probe_id):
    report = survived_report_on("isolated", probe_id)
    needs_full_isolation(report)
    check(BY_ID[probe_id], report)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the fast tests already run as an ordinary user")
@every_probe
@every_property
def test_isolated_as_an_ordinary_user(check, probe_id):
    report = survived_report_on("isolated_as_user", probe_id)
    needs_full_isolation(report)
    check(BY_ID[probe_id], report)


@pytest.mark.slow
@every_probe
@every_property
def test_isolated_without_namespaces(check, probe_id):
    report = survived_report_on("isolated_without_namespaces", probe_id)
    assert any("namespaces" in layer for layer in report["missing_layers"]), "a missing layer is named"
    if probe_id not in MISSED_WITHOUT_NAMESPACES:
        check(BY_ID[probe_id], report)


@pytest.mark.slow
@every_probe
def test_process_catches_all_but_what_it_says(probe_id):
    if probe_id in UNCERTAIN_FOR_PROCESS:
        pytest.skip("depends on the machine, the user or the speed")
    assert caught(BY_ID[probe_id], report_on("process", probe_id)) == (probe_id not in MISSED_BY_PROCESS)


@pytest.mark.parametrize("probe_id", sorted(MISSED_BY_PROCESS | UNCERTAIN_FOR_PROCESS | MISSED_WITHOUT_NAMESPACES))
def test_what_is_missed_is_in_the_readme(probe_id):
    import sandbox

    readme = (Path(sandbox.__file__).parent / "README.md").read_text()
    assert f"`{probe_id}`" in readme


def test_the_suite_has_honest_code_and_every_kind_of_attack():
    kinds = {probe["kind"] for probe in PROBES}
    wanted = "control crash forge kernel memory network output process read time types write"
    assert " ".join(sorted(kinds)) == wanted
    assert sum(probe["kind"] == "control" for probe in PROBES) >= 8
    assert len(BY_ID) == len(PROBES)
