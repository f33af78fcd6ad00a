"""The provers exactly as conf/ describes them."""

from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

CONF = Path(__file__).resolve().parents[2] / "conf"


def make(name: str, **changes: Any) -> Any:
    return instantiate(OmegaConf.merge(OmegaConf.load(CONF / f"prover/{name}.yaml"), changes), _convert_="all")


@pytest.fixture(scope="session")
def prover() -> Any:
    return make("z3")
