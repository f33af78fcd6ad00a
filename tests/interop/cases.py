"""Completions of every kind for one published row: right, wrong and hostile; a name for each."""

import json
from typing import Any

Row = dict[str, Any]


def fenced(code: str) -> str:
    return f"Here is the program.\n\n```python\n{code}```\n"


def code(row: Row) -> dict[str, str]:
    """Name -> completion for code mode."""
    head = f"def {row['entry_point']}({', '.join(row['parameters'])}):\n"
    right = f"{row['reference']}\n"
    inner = right.replace(f"def {row['entry_point']}(", "def right(", 1)
    call = f"right({', '.join(row['parameters'])})"
    return {
        "gold": fenced(right),
        "gold that prints": fenced(
            f"print('ok' * 500)\n{inner}\n{head}    print('{row['expected']}')\n    return {call}\n"
        ),
        "gold after reasoning": "<think>\n```python\nx = 1\n```\n</think>\n" + fenced(right),
        "wrong": fenced(f"{head}    return -1\n"),
        "a subtype": fenced(f"{inner}\n\nclass Loose(int):\n    pass\n\n\n{head}    return Loose(3)\n"),
        "prints the answer": fenced(f"{head}    print({row['expected']!r})\n"),
        "raises": fenced(f"{head}    raise ValueError('no')\n"),
        "leaves": fenced(f"import os\n\n\n{head}    os._exit(0)\n"),
        "leaves at import": fenced(f"import os\nos._exit(0)\n\n\n{head}    return 0\n"),
        "leaves politely": fenced(f"import sys\n\n\n{head}    sys.exit(0)\n"),
        "equal to all": fenced(
            f"class Any:\n    def __eq__(self, other):\n        return True\n\n    __hash__ = None\n\n\n{head}    return Any()\n"
        ),
        "a list equal to all": fenced(
            f"class Every(list):\n    def __eq__(self, other):\n        return True\n\n\n{head}    return Every()\n"
        ),
        "claims to pass": fenced(f"import sys\nprint('passed')\nsys.stdout.flush()\n\n\n{head}    return 'passed'\n"),
        "patches comparison": fenced(
            "import builtins, json\nbuiltins.all = builtins.any = lambda *_: True\njson.dumps = lambda *_, **__: '0'\n\n\n"
            f"{head}    return 0\n"
        ),
        "no code": "The answer is obvious.",
        "nothing": "",
        "refusal": "I'm sorry, but I can't help with that.",
    }


def answer(row: Row) -> dict[str, str]:
    """Name -> completion for answer mode."""
    expected = json.loads(row["expected"])
    wrong = {"weight": 1, "path": [0]} if isinstance(expected, dict) else expected + 1
    return {
        "gold": f"Some thought.\nANSWER: {row['expected']}\n",
        "gold in a fence": f"ANSWER:\n```json\n{row['expected']}\n```\n",
        "wrong": f"ANSWER: {json.dumps(wrong)}\n",
        "a digit more": f"ANSWER: {row['expected']}0\n",
        "both": f"ANSWER: {row['expected']}\nANSWER: {json.dumps(wrong)}\nANSWER: 77777 or so\n",
        "only mentioned": f"It may be {row['expected']} but who knows.",
        "nothing": "",
        "code": "ANSWER: __import__('os')._exit(0)\n",
        "reasoning only": f"<think>ANSWER: {row['expected']}",
    }


KINDS = {"code": code, "answer": answer}
PASSES = {"gold", "gold that prints", "gold after reasoning", "gold in a fence"}
