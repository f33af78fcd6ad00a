"""Edits whose fate is easily got wrong: tests that look thorough and miss, the one call that tells, and true equivalents."""

from collections.abc import Iterator
from typing import Any

import pytest

from proceval.audit.guard import Guard, Limits

Calls = list[tuple[dict[str, Any], Any]]


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    made = Guard(Limits(cpu_s=2.0, wall_s=60.0, memory_bytes=1 << 30), factor=50, base=500)
    yield made
    made.close()


FIRST_LARGE = "def f(xs, t):\n    i = 0\n    while i < len(xs) and xs[i] < t:\n        i += 1\n    return i\n"
LOWEST = (
    "def f(xs):\n    best = None\n    for x in xs:\n        if best is None or x < best:\n"
    "            best = x\n    return best\n"
)
PRIME = (
    "def f(n):\n    for d in range(2, int(n ** 0.5) + 1):\n        if n % d == 0:\n            break\n"
    "    else:\n        return n > 1\n    return False\n"
)
ORDERED = "def f(pairs):\n    return sorted(pairs, key=lambda p: -p[0])\n"
UNIQUE = "def f(xs):\n    return list(dict.fromkeys(xs))\n"
KEPT = "def f(x, seen=None):\n    seen = seen or []\n    seen.append(x)\n    return len(seen)\n"
SAFE = "def f(text):\n    try:\n        return int(text)\n    except ValueError:\n        return -1\n"
SPLIT = (
    "def f(xs, t):\n    lo, hi = 0, len(xs)\n    while lo < hi:\n        mid = (lo + hi) // 2\n        if xs[mid] < t:\n"
    "            lo = mid + 1\n        else:\n            hi = mid\n    return lo\n"
)

CASES: dict[str, tuple[str, str, str, Calls, Calls]] = {
    # name: (reference, before, after, tests that miss it, tests that tell)
    "guard after use": (
        FIRST_LARGE, "i < len(xs) and xs[i] < t", "xs[i] < t and i < len(xs)",
        [({"xs": [1, 5], "t": 3}, 1)], [({"xs": [1, 2], "t": 3}, 2)],
    ),
    "zero taken for nothing": (
        LOWEST, "best is None or", "not best or",
        [({"xs": [3, 1, 2]}, 1), ({"xs": [5]}, 5), ({"xs": [2, 0]}, 0)], [({"xs": [0, 4]}, 0)],
    ),
    "a bound that primes never reach": (
        PRIME, "+ 1)", ")",
        [({"n": n}, n in (2, 3, 5, 7, 11, 13)) for n in (2, 3, 5, 7, 10, 11, 12, 13, 14, 16)], [({"n": 9}, False)],
    ),
    "else of a loop": (PRIME, "            break\n", "            continue\n", [({"n": 7}, True)], [({"n": 8}, False)]),
    "ties turned round": (
        ORDERED, "sorted(pairs, key=lambda p: -p[0])", "sorted(pairs, key=lambda p: p[0])[::-1]",
        [({"pairs": [[1, 0], [3, 0], [2, 0]]}, [[3, 0], [2, 0], [1, 0]])], [({"pairs": [[1, 0], [1, 9]]}, [[1, 0], [1, 9]])],
    ),
    "a set that looks sorted": (
        UNIQUE, "dict.fromkeys(xs)", "set(xs)", [({"xs": [0, 1, 1, 2]}, [0, 1, 2])], [({"xs": [2, 0, 2]}, [2, 0])],
    ),
    "state that only a second call sees": (
        KEPT, "seen=None):\n    seen = seen or []", "seen=[]):\n    pass", [({"x": 1}, 1)], [({"x": 1}, 1), ({"x": 1}, 1)],
    ),
    "exact only below 2**53": (
        "def f(n):\n    return n // 2\n", "n // 2", "int(n / 2)", [({"n": n}, n // 2) for n in (0, 1, 7, 10**6 + 1)],
        [({"n": 2**60 + 2}, 2**59 + 1)],
    ),
    "identity of small numbers": (
        "def f(a, b):\n    return a == b\n", "a == b", "a is b", [({"a": 5, "b": 5}, True), ({"a": 1, "b": 2}, False)],
        [({"a": 1000, "b": 1000}, True)],
    ),
    "a probe that falls behind and stalls": (
        SPLIT, "// 2", "// 3", [({"xs": [1, 3, 3, 5], "t": t}, k) for t, k in ((0, 0), (3, 1))],
        [({"xs": [1, 3, 3, 5, 6, 7], "t": 7}, 5)],
    ),
    "wider handler": (
        SAFE, "except ValueError", "except Exception", [({"text": t}, r) for t, r in (("7", 7), ("x", -1), ("", -1))], [],
    ),
    "a slice is clamped": (
        "def f(xs):\n    return xs[:len(xs)]\n", "len(xs)]", "len(xs) + 1]", [({"xs": xs}, xs) for xs in ([], [1], [3, 1])], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_telling_call_kills_and_the_others_do_not(guard: Guard, name: str) -> None:
    reference, before, after, blind, telling = CASES[name]
    mutant = reference.replace(before, after)
    assert mutant != reference
    misses, rows = guard.run(reference, "f", blind, [mutant])
    assert not misses
    assert not any(rows[0].kills)
    if telling:
        misses, rows = guard.run(reference, "f", telling, [mutant])
        assert not misses
        assert any(rows[0].kills)
