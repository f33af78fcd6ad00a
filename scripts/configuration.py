"""Write docs/configuration.md from conf/ and from the constructors that its keys go to; `--check` fails when stale."""

import argparse
import inspect
import re
import sys
import typing
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval.config import Settings  # noqa: E402
from proceval.conftree import groups, top_keys, usual  # noqa: E402

TARGET = ROOT / "docs" / "configuration.md"
HEAD = """# Configuration reference

Every key of `conf/`, its default and what it allows: written by `python scripts/configuration.py` from the YAML files and
from the constructors that the keys go to. A key is set on the command line by its path (`track.mode=answer`,
`difficulty.hard.graphs.vertices=[20,30]`), an option by its group (`strategy=best_of_n`). Unknown keys are errors.

"""


def words(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """A JSON schema in a few words."""
    if "$ref" in schema:
        return words(root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}), root)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(words(option, root) for option in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    kind = schema.get("type")
    if kind == "array":
        inner = words(schema.get("items", {}), root)
        return "list" + (f" of {inner}" if inner else "")
    if kind == "object":
        return "mapping"
    names = {"integer": "integer", "number": "number", "string": "text", "boolean": "true, false", "null": "null"}
    bounds = [
        f"{sign} {schema[key]:g}"
        for key, sign in (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<="), ("exclusiveMaximum", "<"))
        if key in schema
    ]
    return " ".join([names.get(str(kind), ""), *bounds]).strip()


def allowed(annotation: Any) -> str:
    """What a parameter allows, in words; empty where it takes another part."""
    try:
        schema = TypeAdapter(annotation).json_schema()
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeError, ValueError):
        return ""
    return words(schema, schema)


def parameters(target: str) -> tuple[str, dict[str, Any]]:
    """First sentence of the class's docstring, and its constructor's annotations."""
    module, _, name = target.rpartition(".")
    made = getattr(import_module(module), name)
    function = made.__init__ if inspect.isclass(made) else made
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError:
        hints = {}
    said = inspect.cleandoc(made.__doc__ or "").split("\n\n")[0]
    return " ".join(said.split()), hints


def comments(text: str) -> dict[str, str]:
    """Key -> the comment that stands beside it, wherever it is nested."""
    found = re.findall(r"^\s*(?:- )?(\w+):.*?\s#\s+(.*)$", text, re.MULTILINE)
    return dict(found)


def rows(node: Any, remarks: dict[str, str], path: str = "") -> list[tuple[str, str, str, str]]:
    """(key, default, allowed, remark) of a YAML node, nested parts with dotted keys."""
    _, hints = parameters(node["_target_"]) if isinstance(node, dict) and "_target_" in node else ("", {})
    found = []
    for key, value in node.items():
        if key in ("_target_", "defaults", "hydra"):
            continue
        if isinstance(value, dict) and value:
            found += rows(value, remarks, f"{path}{key}.")
            continue
        found.append(
            (path + str(key), shown(value), allowed(hints[key]) if key in hints else "", remarks.get(str(key), ""))
        )
    return found


def shown(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000).strip().removesuffix("...").strip()
    return f"`{text}`"


def table(header: tuple[str, ...], lines: list[tuple[str, ...]]) -> list[str]:
    escaped = [tuple(cell.replace("|", "\\|") for cell in line) for line in lines]
    return [
        "| " + " | ".join(header) + " |",
        "|" + " --- |" * len(header),
        *("| " + " | ".join(line) + " |" for line in escaped),
        "",
    ]


def top_level() -> list[str]:
    conf = ROOT / "conf"
    schema = Settings.model_json_schema()
    defaults, said = usual(conf), top_keys(conf)
    lines = [
        (f"`{key}`", f"`{defaults[key]}`", words(schema["properties"].get(key, {}), schema), comment)
        for key, comment in said.items()
    ]
    return ["## Top-level keys", "", *table(("key", "default", "allows", "meaning"), lines)]


def group(name: str, options: list[str], default: str) -> list[str]:
    parts = [f"## {name}", "", f"Options: {', '.join(f'`{option}`' for option in options)}."]
    parts[-1] += f" Default: `{default}`." if default else ""
    parts.append("")
    for option in options:
        text = (ROOT / "conf" / name / f"{option}.yaml").read_text(encoding="utf-8")
        node = yaml.safe_load(text) or {}
        head = " ".join(line.lstrip("# ").strip() for line in leading(text))
        said = head or (parameters(node["_target_"])[0] if "_target_" in node else "")
        parts += [f"### {name}={option}", "", said, ""]
        lines: list[tuple[str, ...]] = [(f"`{key}`", *rest) for key, *rest in rows(node, comments(text))]
        if lines:
            parts += table(("key", "default", "allows", "meaning"), lines)
    return parts


def leading(text: str) -> list[str]:
    """The comment lines at the top of a file."""
    found = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith("# @package"):
            found.append(line)
    return found


def reference() -> str:
    conf = ROOT / "conf"
    defaults = usual(conf)
    text = (conf / "config.yaml").read_text(encoding="utf-8")
    lists = dict(re.findall(r"^  - (\w+): (\[[^\]]*\])", text, re.MULTILINE))
    parts = top_level()
    for name, options in groups(conf).items():
        parts += group(name, options, lists.get(name, defaults.get(name, "")))
    return HEAD + re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 when the file is stale")
    fresh = reference()
    if parser.parse_args().check:
        stale = not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != fresh
        if stale:
            print(f"{TARGET.relative_to(ROOT)} is stale: run python scripts/configuration.py", file=sys.stderr)
        return int(stale)
    TARGET.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
