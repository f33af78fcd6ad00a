"""Workspaces of agents: a baseline after set-up, files laid over whatever is in the way, commands of their own measure."""

import os
import shutil
import socket
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import fixture
from sandbox import workspace as workspaces
from sandbox.workspace import needed_in
from tests.sandbox.test_workspace import LIMITS, bare, isolated, original, space, workspace  # noqa: F401 - fixtures


def test_what_set_up_made_is_the_baseline(space):  # noqa: F811
    space.run("mkdir made && echo one > made/file && chmod 444 made/file && echo three = 3 >> src/a.py && rm -r empty")
    assert space.changes()
    space.settle()
    assert (space.changes(), space.diff()) == ([], "")
    space.run("echo two > src/a.py; rm -rf made; mkdir -p new/.git; echo x > new/.git/y; echo z > new/z")
    assert "new/z" in space.diff([".git", "**/.git"])
    assert "new/.git/y" not in space.diff(["**/.git"])
    space.restore(["made", "src/a.py", "new"])
    assert space.changes() == []
    assert space.read("made/file") == b"one\n"
    assert b"three" in space.read("src/a.py")


def test_a_file_is_laid_over_whatever_is_in_the_way(space, tmp_path):  # noqa: F811
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    space.run(
        f"ln -s {outside} trap; rm -r src; touch src; mkdir -p deep/file; touch deep/file/x; mkdir locked; chmod 0 locked"
    )
    space.lay(
        {"trap/check.sh": b"echo laid\n", "src/check.sh": b"", "deep/file": b"plain", "locked/a": b"1", "top": b"2"}
    )
    assert not list(outside.iterdir())
    assert (
        space.run("bash trap/check.sh; cat deep/file locked/a top; test -x top && echo runs").stdout
        == "laid\nplain12runs\n"
    )
    for path in ("../x", "/x", "a//b", ""):
        with pytest.raises(ValueError, match="plain relative path"):
            space.lay({path: b""})


def test_a_command_has_variables_and_limits_of_its_own(original):  # noqa: F811
    with workspace(original) as made:
        assert made.run("echo $COLOUR", environment={"COLOUR": "a b"}).stdout == "a b\n"
        assert made.run("echo $COLOUR").stdout == "\n"
        assert made.run("sleep 30", limits=replace(LIMITS, wall_s=0.3)).kind == "timeout"
        assert made.run("sleep 0.5; echo done").stdout == "done\n"


def test_further_programmes_are_read_only_at_their_own_place(original, tmp_path):  # noqa: F811
    folder = tmp_path / "programme"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "greet").write_text("#!/bin/sh\necho hello\n")
    (folder / "greet").chmod(0o755)
    options = {
        "processes": 50,
        "disk_bytes": 16 << 20,
        "temporary_bytes": 1 << 20,
        "environment": (),
        "degraded": "warn",
    }
    from sandbox.workspace import Workspace

    with Workspace(original, limits=LIMITS, programmes=[str(folder)], **options) as made:
        isolated(made)
        assert made.run(f"{folder}/greet").stdout == "hello\n"
        assert "Read-only" in made.run(f"echo x > {folder}/more").stderr
        assert made.run(f"ls {tmp_path}; ls /tmp").stdout.split()[0] == "programme", "nothing else of /tmp is there"
    with workspace(original) as made:
        assert made.run(f"{folder}/greet").exit_code == 127


@pytest.mark.parametrize("order", [1, -1])
def test_a_programme_around_another_is_shown_whole(original, tmp_path, order):  # noqa: F811
    """As a checkout with the environment that runs it in a folder of its own."""
    for home in (tmp_path / "checkout", Path(f"/opt/checkout-{os.getpid()}")):
        try:
            (home / "venv").mkdir(parents=True)
            (home / "venv" / "inner").write_text("in\n")
            (home / "outer").write_text("out\n")
            programmes = [str(home / "venv"), str(home)][::order]
            with workspace(original, programmes=programmes) as made:
                isolated(made)
                assert made.run(f"cat {home}/outer {home}/venv/inner").stdout == "out\nin\n"
        except PermissionError:  # an ordinary user has no place outside /tmp
            continue
        finally:
            shutil.rmtree(home, ignore_errors=True)


def test_the_host_answers_on_the_loopback_of_the_commands_alone(space):  # noqa: F811
    isolated(space)
    listener = space.listener()
    port = listener.getsockname()[1]

    def serve():
        line, _ = listener.accept()
        with line:
            line.sendall(b"from the host: " + line.recv(100))

    server = threading.Thread(target=serve)
    server.start()
    try:
        said = space.run(f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; cat <&3")
        assert said.stdout == "from the host: hello\n", said
    finally:
        server.join(5)
        listener.close()
    assert space.run("exec 3<>/dev/tcp/192.0.2.1/80").exit_code != 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), 1).close()


def test_the_host_looks_at_no_more_than_it_can_and_once_at_each_file(space, monkeypatch):  # noqa: F811
    """Files with holes, and many names of one, cost whoever makes them nothing."""
    assert space.run("truncate -s 1000000 hole; for n in $(seq 400); do ln hole name$n; done").exit_code == 0
    assert len({entry.digest for path, entry in space.list().items() if path.startswith("name")}) == 1
    monkeypatch.setattr(fixture, "_MOST_BYTES", 5_500_000)
    assert space.run("truncate -s 1000000 1 2 3 4").exit_code == 0
    assert space.list()
    assert space.run("truncate -s 1000000 5").exit_code == 0
    for look in (space.list, space.changes, space.diff):
        with pytest.raises(ValueError, match="more than 5500000 bytes together"):
            look()


def test_a_file_is_written_over_files_alone_whatever_their_modes(space):  # noqa: F811
    space.run(
        "mkfifo pipe; mkdir folder; ln -s /etc/passwd link; echo old > locked; chmod 000 locked; mkdir -m 000 closed"
    )
    for path in ("pipe", "folder", "link"):
        with pytest.raises(ValueError, match="is not a file|is a link"):
            space.write(path, b"new")
    space.write("locked", b"new")
    space.write("closed/inside", b"new")
    assert (space.read("locked"), space.read("closed/inside")) == (b"new", b"new")
    assert space.run("stat -c %a locked closed").stdout == "0\n0\n"


def test_what_is_covered_appears_empty_among_what_is_shown(original, tmp_path):  # noqa: F811
    for path in ("programme/run", "programme/keys/answer"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("42\n")
    shown, covered = tmp_path / "programme", tmp_path / "programme" / "keys"
    for folder in (shown, covered):
        folder.chmod(0o755)
    with workspace(original, programmes=[str(shown)], covered=[str(covered), "/no/such/folder"]) as made:
        isolated(made)
        assert made.run(f"cat {shown}/run; ls -A {covered} | wc -l; cat {covered}/answer").stdout == "42\n0\n"
        assert made.run(f"umount {covered} || echo x > {covered}/y").exit_code != 0
    assert (covered / "answer").read_text() == "42\n"


def test_what_is_covered_is_so_by_any_name_and_hides_nothing_above_itself(original, tmp_path, monkeypatch):  # noqa: F811
    """A programme that is shown by a link's name, and a covered folder around all programmes."""
    (tmp_path / "real/keys").mkdir(parents=True)
    (tmp_path / "real/keys/answer").write_text("42\n")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real").chmod(0o755)
    link = tmp_path / "link"
    prefixes = workspaces._prefixes()
    monkeypatch.setattr(workspaces, "_prefixes", lambda: [*prefixes, str(link)])
    with workspace(original, covered=[str(tmp_path / "real/keys"), str(tmp_path)]) as made:
        isolated(made)
        assert made.run(f"ls -A {link}; ls -A {link}/keys").stdout == "keys\n"


def test_no_command_sees_where_anything_lies_on_the_host(original, tmp_path):  # noqa: F811
    shown, covered = tmp_path / "programme", tmp_path / "programme/elsewhere"
    covered.mkdir(parents=True)
    with workspace(original, programmes=[str(shown)], covered=[str(covered), "/secret/place"]) as made:
        isolated(made)
        said = made.run("cat /proc/*/cmdline /proc/*/environ | tr '\\0' ' '").stdout
        assert "shell" in said
        assert "elsewhere" not in said
        assert "/secret/place" not in said


def test_what_commands_need_is_found_wherever_it_lies(tmp_path):
    (tmp_path / "a/programme").mkdir(parents=True)
    programmes = [str(tmp_path / "a/programme")]
    assert needed_in("/usr", []) is not None
    assert needed_in(sys.prefix, []) is not None
    assert needed_in("/usr/share/nothing", []) is None
    assert needed_in(str(tmp_path / "a/programme"), programmes) == programmes[0]
    assert needed_in(str(tmp_path / "a"), programmes) is None, "nothing else of it is shown"
    assert needed_in(str(tmp_path / "a/programme/outputs"), programmes) is None
