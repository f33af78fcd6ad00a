"""Libraries that only an extra brings."""

import importlib
import os
from typing import Any

import pytest


def needs(library: str) -> Any:
    """The library of an extra; skipped where it is not installed, unless PROCEVAL_INTEROP says that it must be."""
    if os.environ.get("PROCEVAL_INTEROP"):
        return importlib.import_module(library)
    return pytest.importorskip(library)
