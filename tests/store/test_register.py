"""What a run keeps of its problems: the same answers as memory would give, in memory that does not grow."""

import subprocess
import sys
from collections import Counter
from random import Random

from proceval.assembly import Shelf, Taken
from proceval.guesses import floor
from proceval.register import Register
from tests.arena import problem
from tests.conftest import ROOT


def test_rows_of_a_page_may_change_while_they_are_gone_through() -> None:
    register = Register("t (number INTEGER PRIMARY KEY, seen INTEGER)")
    for number in range(0, 60, 3):
        assert register.put("INSERT INTO t VALUES (?, 0)", number)
    query = "SELECT number, seen FROM t WHERE seen = ? AND number >= ? ORDER BY number LIMIT ?"
    met = []
    for number, _ in register.pages(query, (0,), 0, size=4):
        met.append(number)
        register.put("UPDATE t SET seen = 1 WHERE number = ?", number)
    assert met == list(range(0, 60, 3))
    assert register.one("SELECT count(*) FROM t WHERE seen = 1") == (20,)
    assert not register.put("DELETE FROM t WHERE number = 1")
    register.close()


def test_a_shelf_takes_each_problem_and_each_shape_once() -> None:
    taken = Taken()
    shelf, other = Shelf(("f", "easy"), 3, taken), Shelf(("f", "hard"), 3, taken)
    assert shelf.offer("a", "s") == "kept"
    assert [shelf.offer("b", "s"), shelf.offer("a", "t"), shelf.offer(None, None), shelf.offer(None, "t")] == [
        "duplicate", "duplicate", "barren", "barren"]  # fmt: skip
    assert [other.offer("a", "s"), other.offer("c", "s")] == ["duplicate", "kept"]
    assert (shelf.found, shelf.missing, other.found) == (1, 2, 1)


def test_the_floor_counts_as_a_counter_does() -> None:
    random = Random(3)
    problems = [problem(random.randrange(7)) for _ in range(200)]
    keys = Counter(str(p.expected) for p in problems)
    said = floor([*problems, None])
    most = max(keys.values())
    assert said["problems"] == 200
    assert said["distinct_answers"] == len(keys)
    assert said["commonest_answer"] == min(k for k, n in keys.items() if n == most)
    assert said["commonest_share"] == most / 200
    assert floor([])["commonest_answer"] is None


def test_forty_thousand_rows_cost_no_memory() -> None:
    program = """
import resource
from proceval.register import Register
register = Register("t (id TEXT PRIMARY KEY, shape TEXT) WITHOUT ROWID")
def fill(start, stop):
    for n in range(start, stop):
        register.put("INSERT INTO t VALUES (?, ?)", f"{n * 2654435761 % 2**32:020x}", f"{n:024x}")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(fill(0, 10_000), fill(10_000, 40_000))
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    few, many = map(int, ended.stdout.split())
    unit = 1024 if sys.platform == "darwin" else 1
    assert (many - few) / unit < 1024, "kilobytes for 30,000 rows more"
