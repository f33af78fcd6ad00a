"""A small package around a function that is to be repaired: other functions, a service, a batch report, a public test."""

import ast
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Literal

from proceval.schema import Json

Distance = Literal["function", "service", "batch"]
"""How far the public test stands from the function: it calls it; it sends JSON to the service that calls it; it compares
a report over many calls of several functions."""

_HERE = Path(__file__).parent / "package"
_TEXTS = {path.stem: Template(path.read_text(encoding="utf-8")) for path in sorted(_HERE.glob("*.txt"))}


@dataclass(frozen=True)
class Layout:
    """What the package is made of."""

    name: str
    functions: tuple[str, ...]
    """Names of all functions in it; each has a module of its own name."""
    function: str
    """The one that is to be repaired."""
    distance: Distance
    apart: bool
    """Whether its helper functions lie in another module."""


def modules(layout: Layout, text: str) -> dict[str, str]:
    """The files that a function's text becomes: its module and, where there are helpers to set apart, another."""
    path = f"{layout.name}/{layout.function}.py"
    tree = ast.parse(text)
    helpers = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name != layout.function]
    if not helpers or not layout.apart:
        return {path: text}
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    known = {node.name for node in helpers}
    main = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == layout.function)
    wanted = sorted(known & {n.id for n in ast.walk(main) if isinstance(n, ast.Name)})
    parts = f"{layout.name}.{layout.function}_parts"
    joint = ast.ImportFrom(module=parts, names=[ast.alias(name) for name in wanted], level=0)
    return {
        path: _module([*imports, joint], [main]),
        f"{layout.name}/{layout.function}_parts.py": _module(imports, helpers),
    }


def files(
    layout: Layout, text: str, others: Mapping[str, str], public: Sequence[tuple[str, dict[str, Json], Json]]
) -> dict[str, str]:
    """The whole package by path, with a public test of these (function, arguments, expected)."""
    names = {"package": layout.name, "function": layout.function}
    imports = "\n".join(f"from {layout.name}.{name} import {name}" for name in layout.functions)
    table = "".join(f'    "{name}": {name},\n' for name in layout.functions)
    found = {f"{layout.name}/{name}.py": other for name, other in others.items()}
    found |= modules(layout, text)
    found[f"{layout.name}/__init__.py"] = _TEXTS["init"].substitute(names)
    found[f"{layout.name}/registry.py"] = _TEXTS["registry"].substitute(names, imports=imports, table=table)
    found[f"{layout.name}/service.py"] = _TEXTS["service"].substitute(names)
    found[f"{layout.name}/batch.py"] = _TEXTS["batch"].substitute(names)
    found["README.md"] = _TEXTS["readme"].substitute(names, list="".join(f"- `{name}`\n" for name in layout.functions))
    found["tests/__init__.py"] = ""
    found["tests/test_public.py"] = _TEXTS[f"test_{layout.distance}"].substitute(
        names, cases=_cases(layout, public), report=_report(public)
    )
    return dict(sorted(found.items()))


def speed_test(layout: Layout, stress: str, bound_s: int) -> str:
    """A public test that the function takes at most so many CPU seconds for the calls of a probe."""
    return _TEXTS["test_speed"].substitute(
        package=layout.name, function=layout.function, stress=stress, bound_s=bound_s, name=f"{layout.function}_stress"
    )


def probe(layout: Layout, stress: str) -> str:
    """A hidden script that makes those calls and prints a digest of what came back, and nothing of what should."""
    return _TEXTS["probe"].substitute(
        package=layout.name, function=layout.function, stress=stress, name=f"{layout.function}_stress"
    )


def _cases(layout: Layout, public: Sequence[tuple[str, dict[str, Json], Json]]) -> str:
    """The test's data as Python text."""
    if layout.distance == "function":
        return "".join(f"        ({arguments!r}, {expected!r}),\n" for _, arguments, expected in public)
    requests = [{"function": name, "arguments": arguments} for name, arguments, _ in public]
    if layout.distance == "service":
        pairs = zip(requests, (expected for *_, expected in public), strict=True)
        return "".join(f"        ({json.dumps(request)!r}, {expected!r}),\n" for request, expected in pairs)
    return "".join(f"    {json.dumps(request)!r},\n" for request in requests)


def _report(public: Sequence[tuple[str, dict[str, Json], Json]]) -> dict[str, Any]:
    """What the batch report says when every function is right."""
    checksum = 0
    for name, _, expected in public:
        reply = json.dumps({"function": name, "value": expected}, sort_keys=True)
        checksum = zlib.crc32(reply.encode(), checksum)
    return {"requests": len(public), "failed": 0, "checksum": checksum}


def _module(imports: Sequence[ast.stmt], functions: Sequence[ast.stmt]) -> str:
    head = "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in imports)
    body = "\n\n\n".join(ast.unparse(node) for node in functions)
    return f"{head}\n\n\n{body}\n".lstrip()
