"""Workspaces: faithful copies, commands that reach nothing outside, traps that do not catch the host, nothing left."""

import asyncio
import io
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import archive, fixture
from sandbox.command import Programme
from sandbox.contract import Limits
from sandbox.conversation import SandboxFault
from sandbox.workspace import Workspace

LIMITS = Limits(cpu_s=1.0, wall_s=60.0, memory_bytes=1 << 30, output_bytes=50_000, file_bytes=1 << 20)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workspaces need Linux")


def workspace(source=None, limits=LIMITS, environment=(), degraded="warn", **more):
    options = {
        "processes": 100,
        "disk_bytes": 16 << 20,
        "temporary_bytes": 1 << 22,
        "environment": environment,
        "degraded": degraded,
    }
    return Workspace(source, limits=limits, **options, **more)


@pytest.fixture
def original(tmp_path):
    top = tmp_path / "original"
    (top / "src" / "deep").mkdir(parents=True)
    (top / "empty").mkdir()
    (top / "src" / "a.py").write_text("one = 1\ntwo = 2\n")
    (top / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (top / "run.sh").chmod(0o755)
    (top / "src" / "link").symlink_to("a.py")
    (top / "src" / "up").symlink_to("../run.sh")
    (top / "dangling").symlink_to("nowhere/at/all")
    Path(os.fsdecode(os.fsencode(top) + b"/caf\xe9")).write_bytes(b"\x00\xff")
    return top


@pytest.fixture
def bare(monkeypatch):
    """A machine that allows no namespaces."""
    start = Programme._start

    def refused(self, options):
        answer = start(self, replace(options, namespaces=False))
        return (b"Nnot allowed here", []) if options.namespaces else answer

    monkeypatch.setattr(Programme, "_start", refused)


@pytest.fixture(params=["isolated", pytest.param("bare", marks=pytest.mark.slow)])
def space(original, request):
    if request.param == "bare":
        request.getfixturevalue("bare")
    with workspace(original) as made:
        yield made


def isolated(space):
    layers = space.run("true").missing_layers
    if any("namespaces" in layer for layer in layers):
        pytest.skip(f"this machine lacks: {'; '.join(layers)}")


def test_the_copy_is_faithful(original, space):
    assert space.list() == fixture.survey(original)
    assert space.list()["run.sh"].executable
    assert space.list()["empty"].kind == "folder"
    assert space.list()["dangling"].target == "nowhere/at/all"
    assert space.read("caf\udce9") == b"\x00\xff"
    assert space.changes() == []
    assert space.diff() == ""


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "src/../../outside", "{top}/run.sh"])
def test_links_out_of_the_tree_are_refused(original, target):
    (original / "bad").symlink_to(target.format(top=original))
    with pytest.raises(ValueError, match="out of its folder"):
        workspace(original)


def test_a_link_that_only_looks_harmless_is_refused(original):
    (original / "src" / "top").symlink_to("..")
    (original / "bad").symlink_to("src/top/../outside")
    with pytest.raises(ValueError, match="out of its folder"):
        workspace(original)


def test_pipes_are_refused_and_nothing_is_left(original, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    os.mkfifo(original / "pipe")
    with pytest.raises(ValueError, match="neither a file nor"):
        workspace(original)
    assert os.listdir(tmp_path / "temporary") == []


@pytest.mark.parametrize(
    ("command", "kind", "exit_code", "stdout"),
    [
        ("./run.sh", "exited", 0, "ran\n"),
        ("cat src/up | wc -l; exit 3", "exited", 3, "2\n"),
        ("python3 -c 'print(6 * 7)'; git --version | cut -c1-3", "exited", 0, "42\ngit\n"),
        ("nonsense-command", "exited", 127, ""),
        ("kill -KILL $$", "killed", None, ""),
        ("while :; do :; done", "timeout", None, ""),
        ("cat", "exited", 0, ""),
        ("head -c 2000000 /dev/zero > big; test $(stat -c %s big) -le 1048576", "exited", 0, ""),
    ],
)
def test_commands_end_in_their_own_ways(space, command, kind, exit_code, stdout):
    outcome = space.run(command)
    assert (outcome.kind, outcome.exit_code, outcome.stdout) == (kind, exit_code, stdout), outcome


def test_too_much_output_and_too_much_time(original):
    with workspace(original, limits=Limits(**(vars(LIMITS) | {"wall_s": 0.5}))) as space:
        assert space.run("sleep 60").kind == "timeout"
        loud = space.run("head -c 100000 /dev/zero | tr '\\0' x; echo done")
        assert loud.kind == "output_limit"
        assert len(loud.stdout) <= LIMITS.output_bytes


def test_a_git_repository_can_be_used(space):
    outcome = space.run(
        "git init -q && git add -A && git -c user.name=n -c user.email=e commit -qm first && git status --short | wc -l"
    )
    assert (outcome.exit_code, outcome.stdout.strip()) == (0, "0"), outcome
    assert any(change.path == ".git/HEAD" for change in space.changes())


def test_edits_show_in_the_difference(space):
    space.run("sed -i s/2/3/ src/a.py; chmod -x run.sh; rm dangling; mkdir made; printf new > made/file; rmdir empty")
    kinds = {change.path: (change.before is None, change.after is None) for change in space.changes()}
    assert kinds == {
        "src/a.py": (False, False),
        "run.sh": (False, False),
        "dangling": (False, True),
        "made": (True, False),
        "made/file": (True, False),
        "empty": (False, True),
    }
    shown = space.diff()
    assert "-two = 2\n+two = 3\n" in shown
    assert "+++ b/made/file\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n" in shown
    assert "run.sh: executable file -> file\n" in shown
    assert "dangling: link to nowhere/at/all -> nothing\n" in shown


def applied(diff, old):
    """What a unified diff makes of a text."""
    lines, made, at = old.splitlines(keepends=True), [], 0
    for line in diff.splitlines(keepends=True)[2:]:
        if line.startswith("@@"):
            start = int(line.split()[1].split(",")[0][1:]) - 1
            made += lines[at:start]
            at = start
        elif line.startswith("\\"):
            made[-1] = made[-1].removesuffix("\n")
        elif line[0] in " -":
            made += [lines[at]] if line[0] == " " else []
            at += 1
        else:
            made.append(line[1:])
    return "".join(made + lines[at:])


def test_differences_of_long_files_are_bounded_work_and_still_right():
    """Shuffled lines cost difflib the product of both lengths, and an agent decides what is in its files."""
    lines = [f"line {number}\n" for number in range(30_000)]
    shuffled = random.Random(1).sample(lines, len(lines))
    for changed in (
        shuffled,
        lines[::-1],
        lines[:3],
        [*lines[:9], "new\n", *lines[9:]],
        [*lines[:-1], "end\n"],
        ["x\n", *lines],
    ):
        shown = fixture.unified("f", "".join(lines).encode(), "".join(changed).encode())
        assert applied(shown, "".join(lines)) == "".join(changed)
    small = fixture.unified("f", b"a\nb\nc\n", b"a\nc\nd\n")
    assert applied(small, "a\nb\nc\n") == "a\nc\nd\n"
    assert small.count("\n") == 7


def test_the_host_writes_and_reads(space):
    space.write("new/folder/file.txt", b"from the host")
    assert space.run("cat new/folder/file.txt; echo more >> new/folder/file.txt").stdout == "from the host"
    assert space.read("new/folder/file.txt") == b"from the hostmore\n"


def test_traps_do_not_lead_the_host_out(space, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("intact")
    space.run(
        f"ln -s {tmp_path} out; ln -s {victim} file; rm -r src; ln -s /etc src; mkfifo pipe; ln -s /dev/zero zero"
    )
    for path in ("out/victim", "file", "src/passwd", "zero", "../victim", "/etc/passwd", "a/../../b", "", "a//b", "."):
        with pytest.raises((ValueError, FileNotFoundError)):
            space.read(path)
    with pytest.raises((ValueError, OSError)):
        space.read("pipe")
    for path in ("out/victim", "file", "src/new"):
        with pytest.raises(ValueError, match="link"):
            space.write(path, b"overwritten")
    assert victim.read_text() == "intact"
    assert space.list()["file"].kind == "link"
    assert "link to" in space.diff()
    with pytest.raises(ValueError, match="more than 5 bytes"):
        space.read("run.sh", most_bytes=5)


def test_commands_reach_nothing_outside(original, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("SHOWN", "visible")
    (tmp_path / "key").write_text("sk-secret")
    listen = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); s.accept()"
    )
    listener = subprocess.Popen([sys.executable, "-c", listen], stdout=subprocess.PIPE)
    try:
        port = int(listener.stdout.readline())
        with workspace(original, environment=("SHOWN", "NOT_SET")) as space:
            isolated(space)
            probe = (
                f"env; cat {tmp_path}/key /etc/shadow {Path.home()}/.bashrc; ls -A ~; tr '\\0' '\\n' < /proc/1/environ;"
                f"ls /proc | grep -c '^[0-9]'; (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo CONNECTED;"
                f"touch /usr/bin/x {tmp_path}/x /x && echo WRITTEN; mount -t tmpfs none /tmp && echo MOUNTED;"
                "unshare -Ur true && echo NESTED; kill -9 -1; kill -9 1; echo still there"
            )
            outcome = space.run(probe)
            assert "sk-secret" not in outcome.stdout + outcome.stderr
            assert "SHOWN=visible" in outcome.stdout
            for word in ("CONNECTED", "WRITTEN", "MOUNTED", "NESTED"):
                assert word not in outcome.stdout
            assert int(next(line for line in outcome.stdout.splitlines() if line.isdigit())) < 10
        assert listener.poll() is None
    finally:
        listener.kill()
        listener.wait()
        listener.stdout.close()


def alive(marker):
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found += marker in Path(f"/proc/{name}/cmdline").read_text().split("\0")
            except OSError:
                continue
    return found


@pytest.mark.parametrize("whom", ["os.getppid()", "2", "1"])
def test_checked_code_cannot_write_in_the_memory_of_what_checks_it(space, whom):
    """The shell that runs a check is of the same user: with its memory in reach any check can be made to exit 0.

    Without namespaces it is in reach: the README says so, and the missing layer is named.
    """
    isolated(space)
    tries = f"    open(f'/proc/{{{whom}}}/mem', 'r+b', 0)\n    print('open')\n"
    attack = f"import os\ntry:\n{tries}except OSError as e:\n    print('shut')\n"
    space.write("attack.py", attack.encode())
    outcome = space.run("python3 attack.py; exit 3")
    assert (outcome.exit_code, outcome.stdout) == (3, "shut\n"), outcome.stderr
    ptrace = "import ctypes; print(ctypes.CDLL(None, use_errno=True).ptrace(16, 2, 0, 0))"
    assert space.run(f'python3 -c "{ptrace}"').stdout == "-1\n"


@pytest.mark.parametrize("ends", ["by itself", "by the wall", "by cancelling"])
def test_no_process_and_no_folder_survives(ends, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    marker = f"61{os.getpid()}"
    detached = f"(setsid sleep {marker} > /dev/null 2>&1 &); sleep {marker} & disown; "
    limits = Limits(**(vars(LIMITS) | {"wall_s": 1.0}))
    with workspace(limits=limits) as space:
        if ends == "by cancelling":

            async def main():
                running = asyncio.create_task(space.arun(detached + "sleep 60"))
                await asyncio.sleep(0.5)
                assert alive(marker) == 2
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

            asyncio.run(main())
        else:
            space.run(detached + ("sleep 0.1" if ends == "by itself" else "sleep 60"))
        deadline = time.monotonic() + 5
        while alive(marker) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert alive(marker) == 0
        space.run("mkdir -p a/b/c; touch a/b/c/d; chmod 0 a/b; chmod 0 a")
    assert os.listdir(tmp_path) == []


def test_a_fork_bomb_is_contained(space):
    isolated(space)
    assert space.run("bomb() { bomb | bomb & }; bomb; sleep 0.5; echo over").kind in ("exited", "timeout")
    assert space.run("echo fine").stdout == "fine\n"


def test_commands_side_by_side_on_one_event_loop(space):
    async def main():
        return await asyncio.gather(*[space.arun(f"echo {k}") for k in range(4)])

    assert [outcome.stdout for outcome in asyncio.run(main())] == ["0\n", "1\n", "2\n", "3\n"]


def test_without_namespaces_it_warns_or_refuses(bare, capsys):
    with workspace() as space:
        said = capsys.readouterr().err
        assert "not allowed here" in said
        assert "disk quota" in said
        marker = f"62{os.getpid()}"
        outcome = space.run(f"(setsid sleep {marker} > /dev/null 2>&1 &); echo fine")
        assert outcome.stdout == "fine\n"
        assert alive(marker) == 0
        assert any("namespaces" in layer for layer in outcome.missing_layers)
        assert any("disk quota" in layer for layer in outcome.missing_layers)
        assert capsys.readouterr().err == "", "once is enough"
    with pytest.raises(SandboxFault, match="not allowed here.*refuse"):
        workspace(degraded="refuse")


def many_files(megabytes):
    return f"for k in $(seq {megabytes}); do head -c 1000000 /dev/zero > file$k || exit 9; done; sleep 1"


def test_the_copy_cannot_grow_beyond_its_quota(space):
    isolated(space)
    outcome = space.run(many_files(30))
    assert (outcome.kind, outcome.exit_code, outcome.disk_full) == ("exited", 9, True)
    assert "No space left" in outcome.stderr
    assert sum(entry.size_bytes for entry in space.list().values()) <= 16 << 20
    with pytest.raises(ValueError, match="no room.*disk_bytes=16777216"):
        space.write("more", bytes(1 << 20))
    outcome = space.run("rm file*; echo fine")
    assert (outcome.stdout, outcome.disk_full) == ("fine\n", False)
    space.write("more", bytes(1 << 20))
    empty = space.run("mkdir n; cd n; python3 -c \"for k in range(20000): open(str(k), 'w')\"")
    assert (empty.exit_code, empty.disk_full) == (1, True), "files without bytes count, too"
    assert space.run("rm -r n").exit_code == 0
    assert space.run("head -c 900000 /dev/zero > /tmp/a && cat < /tmp/a > ~/b && ls").exit_code == 0
    assert space.run("ls -A /tmp ~").stdout.split() == ["/home/guest:", "/tmp:"]


def test_without_namespaces_the_quota_is_measured(bare):
    with workspace() as space:
        outcome = space.run(many_files(30))
        assert (outcome.kind, outcome.disk_full) == ("disk_limit", True)
        assert space.run("rm file*; echo fine").stdout == "fine\n"


def test_a_fixture_that_does_not_fit_is_refused(original, tmp_path, monkeypatch):
    for number in range(20):
        (original / f"big{number}").write_bytes(bytes(1 << 20))
    processes = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ValueError, match="no room"):
        workspace(original)
    assert os.listdir(tmp_path) == ["original"]
    assert len(os.listdir("/proc/self/fd")) == processes


def test_fifty_commands_leave_nothing_and_see_nothing_of_each_other(space):
    """The loop of an agent: one programme serves all commands, and keeps nothing of them."""
    isolated(space)
    space.run("true")
    pid, descriptors = space._programme._process.pid, len(os.listdir("/proc/self/fd"))
    for number in range(50):
        outcome = space.run(
            f"sleep 62{os.getpid()} & echo {number} | tee last; ls /tmp/* ~/* 2> /dev/null; touch /tmp/x ~/y"
        )
        assert outcome.stdout == f"{number}\n"
    assert space._programme._process.pid == pid
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert alive(f"62{os.getpid()}") == 0
    assert space.read("last") == b"49\n"


def test_a_dead_programme_is_a_fault_and_nobody_elses(space):
    async def main():
        running = asyncio.create_task(space.arun("sleep 5"))
        await asyncio.sleep(0.5)
        space._programme._process.kill()
        return await running

    outcome = asyncio.run(main())
    assert (outcome.kind, bool(outcome.fault)) == ("fault", True)
    with pytest.raises(SandboxFault, match="did not take the command"):
        space.run("echo fine")


def hostile_tree(space):
    """What an agent may leave: locked folders and files, odd names, links everywhere, a pipe, a second name."""
    script = (
        "import os\n"
        "os.makedirs('locked/inner'); open('locked/inner/file', 'w').write('deep'); os.mkdir('locked/empty')\n"
        "for name in (b'caf\\xe9', b'new\\nline', b'-rf', b' ', b'a' * 255, '\\u00e9\\u20ac'.encode(), b'*', b'back\\\\slash'):\n"
        "    open(b'locked/' + name, 'wb').write(name)\n"
        "os.symlink('/etc/passwd', 'out'); os.symlink('x' * 1000, 'long'); os.mkfifo('pipe'); os.link('run.sh', 'second')\n"
        "open('secretive', 'w').write('s'); os.chmod('secretive', 0); os.chmod('run.sh', 0o511)\n"
        "os.chmod('locked/inner', 0); os.chmod('locked', 0o100)\n"
    )
    space.write("make.py", script.encode())
    outcome = space.run("python3 make.py && rm make.py")
    assert outcome.exit_code == 0, outcome.stderr


def modes(space):
    return space.run("find . -path ./locked/inner/\\* -prune -o -printf '%m %y %p\\n' | LC_ALL=C sort").stdout


def test_a_packed_workspace_comes_back_as_it_was_left(original, space):
    hostile_tree(space)
    before, shown = space.list(), modes(space)
    packed = space.pack(1 << 20)
    assert space.pack(1 << 20) == packed, "packing changes nothing"
    assert space.list() == before
    assert before["locked/inner/file"].size_bytes == 4
    assert before["pipe"].kind == "other"
    assert sum(path.startswith("locked/") for path in before) == 11
    with workspace(original) as other:
        other.run("mkdir -p rubbish/x; chmod 0 rubbish; rm -r src; ln -s /tmp src")
        other.unpack(packed)
        assert other.list() == {path: entry for path, entry in before.items() if entry.kind != "other"}
        assert other.pack(1 << 20) == packed
        assert modes(other) == shown.replace("644 p ./pipe\n", "")
        assert other.run("echo more >> src/a.py && ls").exit_code == 0
        assert [change.path for change in other.changes() if change.before] == ["src/a.py"]
    with workspace() as empty:
        assert empty.pack(1 << 20) == empty.pack(1 << 20)
        empty.unpack(packed)
        assert empty.pack(1 << 20) == packed


def test_packing_does_not_depend_on_when_and_by_whom(space, original):
    packed = space.pack(1 << 20)
    time.sleep(1.1)
    (original / "src" / "a.py").touch()
    with workspace(original) as other:
        assert other.pack(1 << 20) == packed


def test_a_workspace_too_large_to_pack_says_so(space):
    space.run("head -c 900000 /dev/zero > big")
    with pytest.raises(archive.TooMuch, match="does not fit into 500000 bytes.*'big'"):
        space.pack(500_000)
    packed = space.pack(1 << 20)
    assert len(packed) <= 1 << 20
    space.run("mkdir many; cd many; mkdir $(seq 300)")
    with pytest.raises(archive.TooMuch, match="does not fit"):
        space.pack(len(packed) + 100_000)


def tar(*members):
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w") as made:
            for name, kind in members:
                member = tarfile.TarInfo(name)
                member.type, member.linkname = kind, "/etc"
                made.addfile(member)
        return buffer.getvalue()


@pytest.mark.parametrize(
    "packed",
    [
        tar(("../out", tarfile.REGTYPE)),
        tar(("/etc/x", tarfile.REGTYPE)),
        tar(("a/../b", tarfile.REGTYPE)),
        tar((".", tarfile.DIRTYPE)),
        tar(("link", tarfile.SYMTYPE), ("link/x", tarfile.REGTYPE)),
        tar(("a", tarfile.REGTYPE), ("a", tarfile.REGTYPE)),
        tar(("a", tarfile.LNKTYPE)),
        tar(("a", tarfile.CHRTYPE)),
        tar(("a", tarfile.FIFOTYPE)),
        b"nonsense" * 200,
        b"",
    ],
    ids=[
        "up",
        "absolute",
        "through",
        "dot",
        "through a link",
        "twice",
        "hard link",
        "device",
        "pipe",
        "no tar",
        "empty",
    ],
)
def test_what_was_not_packed_by_us_is_refused_and_nothing_touched(space, packed):
    before = space.list()
    with pytest.raises(ValueError, match="not a p"):
        space.unpack(packed)
    assert space.list() == before


@pytest.mark.parametrize(
    ("pattern", "covers", "leaves"),
    [
        ("tests", ["tests", "tests/a.py", "tests/b/c.py"], ["test", "x/tests", "tests2"]),
        ("tests/", ["tests", "tests/a.py"], ["x/tests"]),
        ("tests/*.py", ["tests/a.py", "tests/a.py/x"], ["tests", "tests/b/c.py", "tests/A.PY"]),
        ("tests/**", ["tests", "tests/a", "tests/b/c"], ["test"]),
        ("**/conftest.py", ["conftest.py", "a/conftest.py", "a/b/conftest.py"], ["a/conftest.pyc", "xconftest.py"]),
        ("a/**/z?[!0-9]", ["a/zxy", "a/b/c/zxy/below"], ["a/zx1", "z/zxy", "a/b/zx"]),
        ("**", ["a", "a/b"], []),
        (".*", [".git", ".git/config", ".env"], ["a/.env", "a"]),
    ],
)
def test_patterns_cover_paths_and_what_lies_below(pattern, covers, leaves):
    assert [path for path in covers + leaves if fixture.covered(path, ["never", pattern])] == covers


@pytest.mark.parametrize("pattern", ["", "/", "/etc", "../x", "a//b", "./a", "a/.."])
def test_bad_patterns_are_refused(space, pattern):
    with pytest.raises(ValueError, match="plain relative path"):
        space.restore([pattern])


TAMPERINGS = {
    "edited": "echo x >> src/a.py",
    "removed": "rm -r src",
    "replaced by a link": "rm -r src; ln -s /tmp src",
    "replaced by a file": "rm -r src; touch src",
    "replaced by a pipe": "rm src/a.py; mkfifo src/a.py",
    "replaced by a folder": "rm src/a.py; mkdir -p src/a.py/x; chmod 0 src/a.py",
    "locked": "chmod 0 src/a.py src/deep src .",
    "a second name for later": "mv src/a.py b; ln b src/a.py; echo x >> b",
    "link turned round": "ln -sf /etc/passwd src/link",
    "added": "mkdir -p src/deep/more; touch src/deep/more/x src/b.py; ln -s / src/root",
    "nothing": "true",
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_is_protected_comes_back(space, name):
    before = space.list()
    space.run(f"echo kept > answer.txt; {TAMPERINGS[name]}")
    different = [change.path for change in space.restore(["src/**", "nothing/like/this"])]
    assert all(path.startswith("src") for path in different)
    assert bool(different) == (name not in ("nothing", "locked"))
    now = space.list()
    assert {path: now[path] for path in before} == before
    assert now.keys() - before.keys() <= {"answer.txt", "b"}
    assert space.read("answer.txt") == b"kept\n"
    space.run("chmod 755 .; echo more >> b")
    assert space.run("cat src/a.py src/link && touch src/deep/new").stdout == 2 * "one = 1\ntwo = 2\n"


def test_what_is_not_protected_stays(space):
    space.run("echo x >> src/a.py; rm run.sh; echo y > src/deep/conftest.py; echo z > conftest.py; touch 'caf\udce9'")
    assert {change.path for change in space.restore(["**/conftest.py", "run.sh", "caf*"])} == {
        "src/deep/conftest.py",
        "conftest.py",
        "run.sh",
    }
    assert [change.path for change in space.changes()] == ["src/a.py"]
    assert space.list()["run.sh"].executable
    assert space.restore([]) == []


def test_a_fixture_that_has_changed_restores_nothing(original, space):
    (original / "src" / "a.py").write_text("three = 3\n")
    with pytest.raises(ValueError, match="'src/a.py' has changed in the folder"):
        space.restore(["src"])
