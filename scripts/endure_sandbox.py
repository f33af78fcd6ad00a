"""20,000 executions, one in ten hostile, and then: what has been left behind? `python scripts/endure_sandbox.py`

Counts, before and after: processes below this one, open descriptors, files in the temporary folders, resident memory of
this process and of the fork-servers. Every answer is checked. Ends with exit code 1 if anything is wrong.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from sandbox.contract import Execution, Job, Limits  # noqa: E402
from sandbox.isolated import Isolated  # noqa: E402
from sandbox.process import Process  # noqa: E402

LIMITS = Limits(cpu_s=0.2, wall_s=2.0, memory_bytes=256 << 20, output_bytes=20_000, file_bytes=1 << 20)
HONEST = (
    "def f(x): return x * 2",
    "def f(x): return sum(range(x + 1)) * 4 // (x + 1) if x else 0",
    "import json\ndef f(x): return json.loads(json.dumps(x)) * 2",
)
HOSTILE = {
    "def f(x):\n    while True: pass": {"timeout"},
    "import os\ndef f(x): os._exit(0)": {"exited"},
    "import os\ndef f(x): os.abort()": {"killed"},
    "def f(x): return bytearray(1 << 40)": {"memory"},
    "def f(x): return 'x' * 10 ** 6": {"output_limit"},
    "def f(x):\n    while True: print('x' * 1000)": {"output_limit"},
    "import os\ndef f(x):\n    os.fork()\n    return x * 2": {"raised"},
    "import threading, time\ndef f(x):\n    threading.Thread(target=time.sleep, args=(99,)).start()\n    raise OSError": {
        "raised"
    },
    "import os\ndef f(x):\n    for k in range(50): os.makedirs(f'a/{k}/b'); open(f'a/{k}/c', 'w').write('z' * 999)\n"
    "    raise ValueError": {"raised"},
    "import os\ndef f(x):\n    os.closerange(0, 64)\n    os._exit(1)": {"exited"},
    "import os\ndef f(x):\n    for n in range(3, 9):\n        try: os.write(n, b'0' * 9999)\n        except OSError: pass": {
        "protocol"
    },
    "def f(x): return f": {"unserialisable"},
}


@dataclass(frozen=True)
class Traces:
    """What can be left behind."""

    processes: int
    descriptors: int
    files: int
    own_memory_kb: int
    server_memory_kb: int


def below(parent: int) -> list[int]:
    """All living processes below `parent`."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    parents[int(name)] = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    found = {parent}
    while more := {pid for pid, above in parents.items() if above in found} - found:
        found |= more
    return sorted(found - {parent})


def resident_kb(pid: int) -> int:
    with open(f"/proc/{pid}/status") as status:
        return next((int(line.split()[1]) for line in status if line.startswith("VmRSS")), 0)


def look() -> Traces:
    children = below(os.getpid())
    return Traces(
        processes=len(children),
        descriptors=len(os.listdir("/proc/self/fd")),
        files=sum(len(names) + len(folders) for _, folders, names in os.walk(tempfile.gettempdir())),
        own_memory_kb=resident_kb(os.getpid()),
        server_memory_kb=sum(resident_kb(pid) for pid in children),
    )


def judge(code: str, x: int, execution: Execution) -> str | None:
    """What is wrong with the answer, or None."""
    if execution.fault:
        return f"fault: {execution.fault}"
    (result,) = execution.results
    if code in HOSTILE:
        return None if result.kind in HOSTILE[code] else f"{result.kind} instead of {HOSTILE[code]}: {code!r}"
    return None if result.wire == str(2 * x) else f"{result} instead of {2 * x}: {code!r}"


async def endure(box: Isolated | Process, executions: int, seed: int) -> Counter[str]:
    """Run them, eight at a time; what went wrong and how often."""
    dice = random.Random(seed)
    wrong: Counter[str] = Counter()
    todo = iter(range(executions))

    async def one_after_the_other() -> None:
        for x in todo:
            code = dice.choice(list(HOSTILE)) if dice.random() < 0.1 else dice.choice(HONEST)
            problem = judge(code, x, await box.arun(Job(code, "f", [{"x": x}], LIMITS)))
            if problem:
                wrong[problem[:300]] += 1

    await asyncio.gather(*[one_after_the_other() for _ in range(8)])
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="endure-") as folder:
        tempfile.tempdir = folder
        box = Isolated(workers=2, degraded="warn", limits=LIMITS)
        box.start()
        wrong = asyncio.run(endure(box, 300, options.seed + 1))
        before, start = look(), time.monotonic()
        wrong += asyncio.run(endure(box, options.executions, options.seed))
        minutes = (time.monotonic() - start) / 60
        time.sleep(1.0)
        after = look()
        box.close()
        closed = look()
    print(f"{options.executions} executions in {minutes:.1f} minutes, {sum(wrong.values())} wrong answers")
    for problem, count in wrong.most_common(5):
        print(f"  {count} x {problem}")
    print(f"before {before}\nafter  {after}\nclosed {closed}")
    fine = (
        not wrong
        and after.processes == before.processes
        and after.descriptors == before.descriptors
        and after.files == before.files
        and after.own_memory_kb - before.own_memory_kb < 8 << 10
        and after.server_memory_kb - before.server_memory_kb < 4 << 10
        and closed.processes == 0
    )
    print("nothing left behind" if fine else "SOMETHING IS WRONG")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
