"""What every sandbox owes its callers: distinct outcomes, fresh inputs, fair queues, clean ends, faults that are faults."""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sandbox import scratch, wire
from sandbox.contract import Job, Limits
from sandbox.conversation import SandboxFault
from sandbox.isolated import Isolated
from sandbox.process import Process
from sandbox.waiting import Wait, adrive

LIMITS = Limits(cpu_s=0.5, wall_s=30.0, memory_bytes=512 << 20, output_bytes=20_000, file_bytes=50_000)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="isolated needs Linux")


@pytest.fixture(scope="module", params=[pytest.param(Isolated, marks=linux_only), Process], ids=lambda kind: kind.name)
def box(request):
    made = request.param(workers=2, degraded="warn", limits=LIMITS)
    made.start()
    yield made
    made.close()


def job(code, *inputs, limits=LIMITS, **options):
    return Job(code, "f", inputs or ({"x": 1},), limits, **options)


def only(execution):
    assert execution.fault is None
    (result,) = execution.results
    return result


OUTCOMES = {
    "value": ("def f(x): return (x, [x])", "returned", None, None),
    "exception": ("def f(x):\n    y = x\n    raise KeyError('no')", "raised", "KeyError", 3),
    "exception from a library": ("import json\ndef f(x):\n    return json.loads('{')", "raised", "JSONDecodeError", 3),
    "no entry point": ("def g(x): return x", "raised", "NameError", None),
    "syntax": ("def f(x):\n    return (", "raised", "SyntaxError", 2),
    "null byte": ("def f(x): return '\0'", "raised", None, None),
    "raises while loading": ("import os\n\n1 / 0", "raised", "ZeroDivisionError", 3),
    "wrong arguments": ("def f(a, b): return a", "raised", "TypeError", None),
    "not callable": ("f = 3", "raised", "TypeError", None),
    "reads stdin": ("def f(x): return input()", "raised", "EOFError", 1),
    "CPU time": ("def f(x):\n    while True: pass", "timeout", None, None),
    "CPU time while loading": ("while True: pass", "timeout", None, None),
    "wall time": ("import time\ndef f(x): time.sleep(99)", "timeout", None, None),
    "memory": ("def f(x): return len(bytearray(1 << 40))", "memory", None, None),
    "memory while loading": ("b = bytearray(1 << 40)", "memory", None, None),
    "long value": ("def f(x): return 'a' * 20_001", "output_limit", None, None),
    "long output": ("def f(x): print('a' * 20_001)", "output_limit", None, None),
    "SystemExit": ("import sys\ndef f(x): sys.exit(0)", "exited", "SystemExit", 2),
    "exit": ("import os\ndef f(x): os._exit(0)", "exited", None, None),
    "exit while loading": ("import os\nos._exit(0)", "exited", None, None),
    "signal": ("import ctypes\ndef f(x): ctypes.string_at(0)", "killed", None, None),
    "object": ("def f(x): return [object()]", "unserialisable", None, None),
    "generator": ("def f(x): yield x", "unserialisable", None, None),
    "forgery": (
        "import os\ndef f(x):\n  for n in range(3, 64):\n    try: os.write(n, b'[' * 99)\n    except OSError: pass",
        "protocol",
        None,
        None,
    ),
    "big file": ("def f(x): open('a', 'wb').write(bytes(60_000))", "raised", "OSError", 1),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes_are_distinct(box, name):
    code, kind, exception, line = OUTCOMES[name]
    limits = Limits(**(vars(LIMITS) | {"wall_s": 0.5})) if name == "wall time" else LIMITS
    result = only(box.run(job(code, limits=limits)))
    assert result.kind == kind, result
    assert (result.wire is not None) == (kind == "returned")
    if exception:
        assert (result.exception, result.line) == (exception, line)
    if kind not in ("returned", "unserialisable"):
        assert result.message
        assert result.message.isprintable()
        assert len(result.message) <= 500


def test_the_missing_entry_point_is_named(box):
    assert "'f'" in only(box.run(job("def g(x): return x"))).message


def test_values_keep_their_types_and_inputs_are_fresh(box):
    inputs = [{"x": [1, 2.5, None, "é\ud800"], "y": {"k": [True]}}] * 2
    code = "def f(x, y):\n    x.append(y)\n    y['k'].append(0)\n    return (len(x), tuple(x), {1: {2}, 1.5: b'z'})"
    texts = [result.wire for result in box.run(job(code, *inputs)).results]
    expected = (5, (1, 2.5, None, "é\ud800", {"k": [True, 0]}), {1: {2}, 1.5: b"z"})
    assert texts == [wire.encode(expected)] * 2


def test_a_call_that_kills_its_guest_leaves_the_others_alone(box):
    code = "import os\ndef f(x):\n    if x == 1: os._exit(0)\n    while x == 3: pass\n    return x"
    kinds = [result.kind for result in box.run(job(code, *({"x": k} for k in range(5)))).results]
    assert kinds == ["returned", "exited", "returned", "timeout", "returned"]


def test_stop_on_failure_leaves_the_rest_not_run(box):
    calls = [{"x": k} for k in range(4)]
    for code in ("def f(x): return 1 / (1 - x)", "import os\ndef f(x): x != 1 or os._exit(0)\n"):
        kinds = [result.kind for result in box.run(job(code, *calls, stop_on_failure=True)).results]
        assert kinds[0] == "returned"
        assert kinds[2:] == ["not_run"] * 2


def test_one_slow_call_does_not_eat_the_time_of_the_next(box):
    code = "import time\ndef f(x):\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass\n    return x"
    execution = box.run(job(code, *({"x": k} for k in range(3))))
    assert [result.kind for result in execution.results] == ["returned"] * 3
    assert all(0.15 < result.cpu_s < 0.5 for result in execution.results)
    assert execution.cpu_s > 0.55


def test_output_is_kept_apart_and_cut(box):
    execution = box.run(
        job("import sys\ndef f(x):\n    print('out', x)\n    print('err', x, file=sys.stderr)\n    return x")
    )
    assert sorted(execution.stdout.split("\n")) == ["", "err 1", "out 1"]
    loud = box.run(job("def f(x):\n    print('a' * 15_000)\n    return x", {"x": 1}, {"x": 2}))
    assert len(loud.stdout) <= LIMITS.output_bytes


def test_no_environment_argument_or_secret_of_the_host_is_inside(box, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    code = "import os, sys\ndef f(x): return [str(dict(os.environ)), str(sys.argv), str(sys.path), str(sorted(sys.modules))]"
    environment, arguments, path, modules = wire.decode(only(box.run(job(code))).wire)
    assert "secret" not in environment
    assert "KEY" not in environment
    assert "sandbox" not in modules
    assert str(Path(__file__).parents[2]) not in path
    assert "site-packages" not in path
    assert arguments.count(",") == 0


def test_results_do_not_depend_on_the_run(box):
    code = "import random\ndef f(x): return [list({'a', 'b', 'c', 'd'}), random.random(), hash('x')]"
    assert len({only(box.run(job(code))).wire for _ in range(3)}) == 1


def test_long_inputs_arrive_whole(box):
    lengths = (1, 8_000, 8_200, 70_000, 5_000_000)
    execution = box.run(job("def f(x): return len(x)", *({"x": "a" * length} for length in lengths)))
    assert [result.wire for result in execution.results] == [str(length) for length in lengths]


def test_no_inputs_no_results(box):
    execution = box.run(Job("1 / 0", "f", [], LIMITS))
    assert (execution.results, execution.fault) == ((), None)


def test_many_at_once_on_one_event_loop(box):
    async def main():
        code = "def f(x): return x * 2"
        return await asyncio.gather(*[box.arun(job(code, {"x": k}, {"x": k + 100})) for k in range(24)])

    for k, execution in enumerate(asyncio.run(main())):
        assert [result.wire for result in execution.results] == [str(2 * k), str(2 * k + 200)]


def test_a_descriptor_that_had_its_number_before_says_nothing_about_a_guest(box):
    """A child that is being started keeps a copy of every descriptor: the loop still hears of one that we have closed."""
    kept = []

    def closes_what_it_watched():
        pairs = [os.pipe() for _ in range(40)]
        readers = tuple(reader for reader, _ in pairs)
        try:
            yield Wait(readers, (), 0.01)
        finally:
            kept.extend([os.dup(reader) for reader in readers])
            for number in (number for pair in pairs for number in pair):
                os.close(number)  # from now on the copies are readable

    async def main():
        slow = job("import time\ndef f(x):\n    time.sleep(2)\n    return x")
        first = asyncio.create_task(box.arun(slow))
        await asyncio.sleep(0.2)
        await adrive(closes_what_it_watched())
        return await box.arun(slow), await first

    try:
        assert [only(execution).kind for execution in asyncio.run(main())] == ["returned", "returned"]
    finally:
        for number in kept:
            os.close(number)


def test_the_queue_is_fair():
    made = Process(workers=1, degraded="warn", limits=LIMITS)
    order = []

    async def one(k):
        await made.arun(job("def f(x): return x"))
        order.append(k)

    async def main():
        await asyncio.gather(*[one(k) for k in range(4)])

    asyncio.run(main())
    assert order == [0, 1, 2, 3]


def test_cancelling_kills_the_guest_and_frees_its_place(box):
    async def main():
        tasks = [asyncio.create_task(box.arun(job("import time\ndef f(x): time.sleep(99)"))) for _ in range(6)]
        await asyncio.sleep(0.3)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended)
        return await asyncio.gather(*[box.arun(job("def f(x): return x")) for _ in range(4)])

    assert [only(execution).wire for execution in asyncio.run(main())] == ["1"] * 4


def test_no_descriptor_and_no_folder_is_left(box, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    box.run(job("def f(x): return x"))
    before = len(os.listdir("/dev/fd"))
    for code in ("def f(x): return x", "import os\ndef f(x): os._exit(0)", "def f(x): open('a', 'w'); return object()"):
        box.run(job(code))
    assert len(os.listdir("/dev/fd")) == before
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", [pytest.param(Isolated, marks=linux_only), Process])
def test_making_one_is_cheap_and_the_configuration_is_its_constructor(kind):
    omegaconf = pytest.importorskip("omegaconf")
    folder = Path(__file__).parents[2] / "conf" / "sandbox"
    config = omegaconf.OmegaConf.to_container(omegaconf.OmegaConf.load(folder / f"{kind.name}.yaml"))
    assert config.pop("_target_") == f"{kind.__module__}.{kind.__qualname__}"
    limits = config.pop("limits")
    assert limits.pop("_target_") == "sandbox.contract.Limits"
    before = len(os.listdir("/dev/fd"))
    made = kind(**config, limits=Limits(**limits))
    assert made.limits == Limits(**limits)
    assert len(os.listdir("/dev/fd")) == before
    made.close()


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"degraded": "ignore"}])
@pytest.mark.parametrize("kind", [Isolated, Process])
def test_wrong_parameters_are_refused(kind, wrong):
    with pytest.raises(ValueError, match="workers"):
        kind(**({"workers": 1, "degraded": "warn", "limits": LIMITS} | wrong))


def test_what_is_missing_is_said_or_refused(capsys):
    made = Process(workers=1, degraded="warn", limits=LIMITS)
    execution = made.run(job("def f(x): return x"))
    assert "no network" in execution.missing_layers
    assert "no network" in capsys.readouterr().err
    with pytest.raises(SandboxFault, match="no network.*refuse"):
        Process(workers=1, degraded="refuse", limits=LIMITS).start()


@pytest.mark.parametrize("programme", ["/bin/false", "/nowhere/python"])
def test_a_guest_that_does_not_start_is_a_fault_not_a_verdict(monkeypatch, programme):
    monkeypatch.setattr("sandbox.process.interpreter", lambda: programme)
    execution = Process(workers=1, degraded="warn", limits=LIMITS).run(job("def f(x): return x"))
    assert execution.fault
    assert execution.results == ()


def with_two_threads():
    """Numbers of all processes below this one that have two threads."""
    parents, threads = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)], threads[int(folder.name)] = int(fields[1]), int(fields[17])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid for pid in found - {os.getpid()} if threads[pid] == 2}


@linux_only
@pytest.mark.parametrize("times", [1, 2])
def test_a_guest_that_the_system_kills_runs_again_once(box, times):
    """A machine without memory kills whom it likes; who dies of it twice has done it himself."""
    # A second thread shows that the call has begun.
    code = (
        "import threading, time\ndef f(x):\n    if x:\n        threading.Thread(target=time.sleep, args=(x,)).start()\n"
        "        time.sleep(x)\n    return x"
    )

    async def main():
        killed = with_two_threads()
        running = asyncio.create_task(box.arun(job(code, {"x": 0}, {"x": 2}, {"x": 0})))
        for _ in range(times):
            while not (there := with_two_threads() - killed) and not running.done():
                await asyncio.sleep(0.05)
            for pid in there:
                os.kill(pid, signal.SIGKILL)
            killed |= there
        return await running

    execution = asyncio.run(main())
    assert execution.fault is None
    kinds = [result.kind for result in execution.results]
    assert kinds == ["returned", "returned" if times == 1 else "killed", "returned"]


@linux_only
class TestForkServer:
    @pytest.fixture
    def lone(self):
        made = Isolated(workers=1, degraded="warn", limits=LIMITS)
        made.start()
        yield made
        made.close()

    def kill_during(self, made, times):
        async def killer():
            for _ in range(times):
                await asyncio.sleep(0.35)
                process = made._servers[0]._process
                if process is not None:
                    os.kill(process.pid, signal.SIGKILL)

        async def main():
            code = "import time\ndef f(x):\n    time.sleep(x)\n    return x"
            running = asyncio.create_task(made.arun(job(code, {"x": 0}, {"x": 1.5})))
            await killer()
            return await running

        return asyncio.run(main())

    def test_a_dead_server_is_replaced_and_the_work_repeated(self, lone):
        assert [result.wire for result in self.kill_during(lone, 1).results] == ["0", "1.5"]

    def test_a_server_that_dies_again_is_a_fault_and_nobody_elses(self, lone):
        execution = self.kill_during(lone, 4)
        assert execution.fault
        assert execution.results == ()
        assert only(lone.run(job("def f(x): return x"))).wire == "1"

    def test_an_idle_server_that_died_is_replaced(self, lone):
        os.kill(lone._servers[0]._process.pid, signal.SIGKILL)
        time.sleep(0.1)
        assert only(lone.run(job("def f(x): return x"))).wire == "1"

    def test_a_server_that_does_not_start_is_a_fault(self, monkeypatch):
        monkeypatch.setattr("sandbox.isolated.interpreter", lambda: "/bin/false")
        with pytest.raises(SandboxFault, match="fork-server"):
            Isolated(workers=1, degraded="warn", limits=LIMITS).start()

    @pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: [0])(0)) < 2, reason="one processor")
    def test_a_guest_shares_our_processor_until_it_takes_its_time(self, lone):
        code = (
            "import os, time\ndef f(x):\n    before = len(os.sched_getaffinity(0))\n    time.sleep(x)\n"
            "    return [before, len(os.sched_getaffinity(0))]"
        )
        all_of_them = len(os.sched_getaffinity(0))
        assert wire.decode(only(lone.run(job(code, {"x": 0.5}))).wire)[1] == all_of_them
        assert wire.decode(only(lone.run(job(code, {"x": 0}))).wire)[0] in (1, all_of_them), "the next is tied again"
        pid, told = lone._servers[0]._pid, lone._servers[0]._allowed
        assert os.sched_getaffinity(pid) == set(told)
        assert len(told) == 1

    def test_several_workers_use_all_processors(self):
        made = Isolated(workers=2, degraded="warn", limits=LIMITS)
        made.start()
        code = "import os\ndef f(x): return len(os.sched_getaffinity(0))"

        async def main():
            return await asyncio.gather(*[made.arun(job(code)) for _ in range(4)])

        made.run(job(code))
        found = {wire.decode(only(execution).wire) for execution in asyncio.run(main())}
        made.close()
        assert found == {len(os.sched_getaffinity(0))}

    def test_closing_ends_every_process(self):
        made = Isolated(workers=2, degraded="warn", limits=LIMITS)
        made.start()
        pids = [server._process.pid for server in made._servers]
        made.close()
        made.close()
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    def test_guests_find_nothing_of_each_other(self, lone):
        code = (
            "import os\ndef f(x):\n    open('/tmp/' + x, 'w').write('left')\n    os.mkdir('/work/d' + x)\n"
            "    return sorted(os.listdir('/work'))"
        )
        for name in ("a", "b"):
            assert wire.decode(only(lone.run(job(code, {"x": name}))).wire) == sorted([name, "d" + name])


def test_a_deep_locked_tree_is_cleared_and_links_are_not_followed(tmp_path):
    keep = tmp_path / "keep"
    keep.mkdir()
    (keep / "file").write_text("here")
    top = Path(scratch.make("sandbox-test-"))
    (top / "link").symlink_to(keep)
    (top / ".gone1").mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("d", dir_fd=here)
        above, here = here, os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(above)
    os.close(here)
    (top / "d").chmod(0)
    scratch.remove(str(top))
    assert not top.exists()
    assert (keep / "file").read_text() == "here"


@linux_only
def test_the_example_of_the_readme_runs(capsys):
    import sandbox

    readme = (Path(sandbox.__file__).parent / "README.md").read_text()
    example = readme.split("```python\n")[1].split("```")[0]
    exec(example.replace("refuse", "warn"), {})
    assert "['2', '3']" in capsys.readouterr().out
