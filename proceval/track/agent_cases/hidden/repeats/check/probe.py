"""Lists with many repeats and few, in which equal values look different: how many stay, and which."""

import hashlib
import json
import sys

sys.path.append(".")
from repeats import drop_repeats


def said(values):
    kept = drop_repeats(values)
    print(len(kept), hashlib.sha256(json.dumps(kept).encode()).hexdigest())


many, some = range(100_000), range(20_000)
said([{"id": number * number % 99_991, "tags": [str(number % 3), number % 5 / 2]} for number in many])
said([[1, {"a": None, "b": number % 2 == 0}] for number in some])
said([number * 7919 % 60_013 if number % 2 else float(number * 104_729 % 60_013) for number in some])
said([{"x": number % 7, "y": True} if number % 2 else {"y": number % 3 == 1 or 1, "x": number % 11} for number in some])
