"""The one evaluation loop: it knows protocols only, pays for nothing twice and loses nothing."""

from proceval.engine.loop import Engine
from proceval.engine.report import EngineReport

__all__ = ["Engine", "EngineReport"]
