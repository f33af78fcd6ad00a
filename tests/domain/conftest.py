"""Families and the prover exactly as conf/ describes them, in all tiers."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

CONF = Path(__file__).resolve().parents[2] / "conf"
TIERS = ("easy", "medium", "hard", "extreme", "frontier")
DOMAINS = ("arrays", "graphs", "automata")
FAMILIES = [name for domain in DOMAINS for name in OmegaConf.load(CONF / f"domain/{domain}.yaml")[domain]]


def compose(*overrides: str) -> Any:
    """All domains and tiers in one configuration, with dotted overrides."""
    files = {"difficulty": TIERS, "domain": DOMAINS}
    parts = {
        group: OmegaConf.merge(*(OmegaConf.load(CONF / group / f"{f}.yaml") for f in fs)) for group, fs in files.items()
    }
    return OmegaConf.merge(OmegaConf.create(parts), OmegaConf.from_dotlist(list(overrides)))


def build(name: str, *overrides: str) -> Any:
    config = compose(*overrides)
    return next(instantiate(nodes[name], _convert_="all") for nodes in config.domain.values() if name in nodes)


@cache
def _family(name: str) -> Any:
    return build(name)


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Any:
    return _family(request.param)


@pytest.fixture
def named() -> Any:
    """A family by name."""
    return _family


@pytest.fixture(scope="session")
def prover() -> Any:
    return instantiate(OmegaConf.load(CONF / "prover/z3.yaml"), _convert_="all")
