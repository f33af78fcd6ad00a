"""The trusted worker: every status, limits per section, bounded closing, nothing left behind."""

import os
import signal
import time

import pytest

from sandbox.worker import Pool, Reply, Worker

LIMITS = {"cpu_s": 0.4, "wall_s": 120.0, "memory_bytes": 1 << 30}


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def act(payload, section):
    verb, amount = payload
    if verb == "echo":
        return amount
    if verb == "sections":
        for step in range(4):
            section(f"step {step}")
            spin(amount)
        return "through"
    if verb == "late":
        section("easy")
        section("hard")
        spin(amount)
    if verb == "sleep":
        section("nap")
        time.sleep(amount)
    if verb == "eat":
        return len(bytearray(amount))
    if verb == "raise":
        raise ValueError(amount)
    if verb == "quit":
        raise SystemExit(0)
    if verb == "die":
        os.kill(os.getpid(), amount)
    if verb == "leave":
        os._exit(amount)
    if verb == "unpicklable":
        return lambda: None
    if verb == "family":
        child = os.fork()
        if child == 0:
            time.sleep(60)
        return child
    if verb == "pid":
        return os.getpid()
    return None


def dead(pid):
    """Gone, or a zombie that only waits to be reaped."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def eventually(condition, patience_s=10.0):
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(scope="module")
def worker():
    with Worker(act, **LIMITS) as made:
        yield made


@pytest.mark.parametrize(
    ("payload", "status", "section"),
    [
        (("echo", {"a": [1, None, "x" * 700_000]}), "done", ""),
        (("late", 5.0), "cpu", "hard"),
        (("sleep", 30.0), "wall", "nap"),
        (("eat", 1 << 40), "memory", ""),
        (("raise", "boom"), "raised", ""),
        (("quit", 0), "raised", ""),
        (("unpicklable", 0), "raised", ""),
        (("die", signal.SIGSEGV), "crashed", ""),
        (("leave", 3), "crashed", ""),
    ],
)
def test_every_status_and_the_next_payload_goes_on(payload, status, section):
    wall_s = 0.4 if status == "wall" else LIMITS["wall_s"]
    with Worker(act, **(LIMITS | {"wall_s": wall_s})) as worker:
        reply = worker.call(payload)
        assert (reply.status, reply.section) == (status, section), reply
        assert (reply.value is not None) == (status == "done")
        after = worker.call(("echo", 7))
        assert after == Reply("done", 7, None, "", after.cpu_s, after.wall_s)


def test_limits_count_per_section(worker):
    reply = worker.call(("sections", 0.2))
    assert (reply.status, reply.value, reply.section) == ("done", "through", "step 3")
    assert reply.cpu_s >= 0.79


def test_errors_say_what_happened(worker):
    assert "ValueError: boom" in worker.call(("raise", "boom")).error
    assert worker.call(("die", signal.SIGABRT)).error == "signal 6"
    assert worker.call(("leave", 3)).error == "exit 3"


def test_a_handler_that_raises_keeps_its_child_and_a_killed_one_is_replaced(worker):
    first = worker.call(("pid", 0)).value
    worker.call(("raise", ""))
    assert worker.call(("pid", 0)).value == first
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: dead(first))
    assert worker.call(("pid", 0)).value not in (first, None)


def test_a_kill_takes_the_whole_group():
    with Worker(act, **LIMITS) as worker:
        grandchild = worker.call(("family", 0)).value
        assert not dead(grandchild)
        assert worker.call(("late", 5.0)).status == "cpu"
        assert eventually(lambda: dead(grandchild))


def test_pool_keeps_order_and_stays_lazy():
    taken = []

    def payloads():
        for number in range(60):
            taken.append(number)
            yield ("late", 5.0) if number == 5 else ("die", 11) if number == 9 else ("echo", number)

    with Pool(act, workers=2, **LIMITS) as pool:
        replies = pool.map(payloads())
        first = [next(replies) for _ in range(4)]
        assert len(taken) <= 4 + 8
        rest = list(replies)
    got = first + rest
    assert [reply.status for reply in got] == [
        "cpu" if number == 5 else "crashed" if number == 9 else "done" for number in range(60)
    ]
    assert all(reply.value == number for number, reply in enumerate(got) if reply.status == "done")


def test_a_pool_left_in_the_middle_is_usable_again():
    with Pool(act, workers=2, **LIMITS) as pool:
        half = pool.map(("sleep", 0.2) for _ in range(8))
        next(half)
        half.close()
        assert [reply.value for reply in pool.map([("echo", 1), ("echo", 2)])] == [1, 2]


def look_around(payload, section):
    null = os.stat(os.devnull)
    return [
        number
        for number in map(int, os.listdir("/dev/fd"))
        if number > 2 and (held := _stat(number)) and (held.st_dev, held.st_ino) != (null.st_dev, null.st_ino)
    ]


def _stat(number):
    try:
        return os.fstat(number)
    except OSError:
        return None


def test_no_descriptor_of_the_parent_or_a_sibling_leaks(tmp_path):
    with open(tmp_path / "secret", "w") as held, Pool(look_around, workers=3, **LIMITS) as pool:
        assert held
        for reply in pool.map(range(9)):
            assert len(reply.value) == 1, "only the child's own channel"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs PR_SET_PDEATHSIG")
def test_children_die_with_their_parent():
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        os.close(read)
        worker = Worker(act, cpu_s=60, wall_s=60, memory_bytes=1 << 30)
        os.write(write, f"{worker.call(('pid', 0)).value}\n".encode())
        worker._child.submit(("late", 50.0))
        worker._child.advance()
        os.kill(os.getpid(), signal.SIGKILL)
    child = int(os.read(read, 32))
    os.waitpid(parent, 0)
    os.close(read)
    os.close(write)
    assert eventually(lambda: dead(child))
