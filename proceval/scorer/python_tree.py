"""Python files of a folder as one program for the sandbox: the guest imports them from memory and calls one function."""

import json
from collections.abc import Mapping

ENTRY_POINT = "call_the_function"

_LOADER = """\
import importlib, importlib.abc, importlib.machinery, json, sys

_FILES = json.loads({files!r})


class _FromMemory(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        place = name.replace(".", "/")
        for file, package in ((place + "/__init__.py", True), (place + ".py", False)):
            if file in _FILES:
                spec = importlib.machinery.ModuleSpec(name, self, origin="/workspace/" + file, is_package=package)
                spec.has_location = True
                return spec
        if any(file.startswith(place + "/") for file in _FILES):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        origin = module.__spec__.origin
        if origin is not None:
            exec(compile(_FILES[origin.removeprefix("/workspace/")], origin, "exec"), module.__dict__)


sys.meta_path.insert(0, _FromMemory())
_MODULE, _, _NAME = {function!r}.rpartition(".")


def {entry_point}(**arguments):
    return getattr(importlib.import_module(_MODULE), _NAME)(**arguments)
"""


def program(files: Mapping[str, str], function: str) -> str:
    """Source that defines `ENTRY_POINT`, which calls `function` (package.module.name) of these files (path -> text)."""
    return _LOADER.format(files=json.dumps(dict(files)), function=function, entry_point=ENTRY_POINT)
