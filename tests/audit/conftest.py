"""The families and the standard audit as the real configuration builds them."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from proceval.audit.original import Original
from proceval.audit.standard import Standard
from proceval.protocols import Family

CONF = Path(__file__).resolve().parents[2] / "conf"
TIERS = ("easy", "medium", "hard", "extreme")


def _part(settings: dict[str, Any]) -> Any:
    module, name = settings.pop("_target_").rsplit(".", 1)
    return getattr(import_module(module), name)(**settings)


def build_families() -> dict[str, Family]:
    tiers = OmegaConf.merge(*(OmegaConf.load(CONF / "difficulty" / f"{tier}.yaml") for tier in TIERS))
    domains = [OmegaConf.load(path) for path in sorted((CONF / "domain").glob("*.yaml"))]
    settings: Any = OmegaConf.to_container(OmegaConf.merge({"difficulty": tiers}, *domains), resolve=True)
    del settings["difficulty"]
    return {name: _part(family) for families in settings.values() for name, family in families.items()}


def build_audit(name: str, **changes: Any) -> Any:
    settings: Any = OmegaConf.to_container(OmegaConf.load(CONF / "audit" / f"{name}.yaml"))
    return _part({**settings, **changes})


FAMILIES = build_families()


@pytest.fixture(scope="session")
def standard() -> Iterator[Standard]:
    made: Standard = build_audit("standard")
    yield made
    made.close()


@pytest.fixture(scope="session")
def original() -> Iterator[Original]:
    made: Original = build_audit("original")
    yield made
    made.close()
