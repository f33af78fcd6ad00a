"""`model=PROVIDER/NAME`: any LiteLLM id as an option of the group `model`, alone or in a sweep, without a file for it."""

from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from omegaconf import OmegaConf

from proceval.conftree import config_dir

GROUP, TEMPLATE = "model/", "litellm.yaml"


class ModelIds(ConfigSource):
    """Reads `model/PROVIDER/NAME` as model=litellm with that id; a word without a slash is left to the files of conf/.

    Stands at `ids://` in `hydra.searchpath`, after conf/, so that a file of the same name wins.
    """

    @staticmethod
    def scheme() -> str:
        return "ids"

    def load_config(self, config_path: str) -> ConfigResult:
        identity = _id(config_path)
        if identity is None:
            raise ConfigLoadError(f"not the id of a model: {config_path}")
        settings = OmegaConf.merge(OmegaConf.load(config_dir() / GROUP / TEMPLATE), {"id": identity})
        return ConfigResult(provider=self.provider, path=f"ids://{identity}", config=settings, header={"package": None})

    def is_group(self, config_path: str) -> bool:
        return False

    def is_config(self, config_path: str) -> bool:
        return _id(config_path) is not None

    def available(self) -> bool:
        return True

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        return []


def register() -> None:
    """Make `ids://` known to Hydra; twice is harmless."""
    Plugins.instance().register(ModelIds)


def _id(config_path: str) -> str | None:
    path = config_path.removesuffix(".yaml")
    identity = path.removeprefix(GROUP)
    return identity if path.startswith(GROUP) and all(identity.partition("/")[::2]) else None
