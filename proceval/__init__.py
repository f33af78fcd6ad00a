"""proceval: algorithmic problems with proved answers, measured tests and durable evaluations.

For notebooks: `load` a dataset, `prove` an instance, `score` a text. Everything else is `python -m proceval`.
"""

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "load", "prove", "score"]


def __getattr__(name: str) -> Any:
    """Import the notebook face on first use, so that `--help` pays for nothing."""
    if name in ("load", "prove", "score"):
        from proceval import face

        return getattr(face, name)
    raise AttributeError(f"module 'proceval' has no attribute {name!r}")


def __dir__() -> list[str]:
    """So that completion and `help(proceval)` know the notebook face before its first use."""
    return sorted({*globals(), *__all__})
