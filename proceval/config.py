"""From a composed configuration to ready-made parts: the one caller of hydra's instantiate.

Everything is checked before anything is generated or paid for: unknown keys, wrong types, impossible ranges, and targets
outside this project (hydra would run any importable function that a YAML names).
"""

import inspect
import math
import typing
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any

import omegaconf
from omegaconf import DictConfig, OmegaConf
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)

from proceval import credentials, naming, words
from proceval.errors import InputError
from proceval.folder import GENERATION
from proceval.provenance import source_digest, versions
from proceval.seeding import digest

TARGET = "_target_"
ALLOWED_TARGETS = ("proceval.", "sandbox.")

PRESENTATION = (
    "stage", "tracker", "engine", "workers", "outputs", "dry_run", "fresh", "rescore", "pass_k", "figures", "id",
    "reference", "tests", "compare", "port", "against", "release", "repo_id", "private", "recheck",
)  # fmt: skip
"""Keys that change how a run is carried out or shown, and never what it computes: left out of its identity."""

Plain = dict[str, Any]


class Shard(BaseModel):
    """One job's share of a dataset's candidates."""

    model_config = ConfigDict(extra="forbid")

    count: Annotated[StrictInt, Field(ge=1, le=100_000)]
    index: Annotated[StrictInt, Field(ge=0)]


class Suite(BaseModel):
    """Where a track's own cases lie."""

    model_config = ConfigDict(extra="forbid")

    dir: Annotated[StrictStr, Field(min_length=1)] | None


def _name(seed: Any) -> Any:
    """A seed as it was meant: what YAML takes for a fraction, a truth value or a date is no name until it is quoted."""
    if isinstance(seed, bool | float) or seed is None:
        raise ValueError(f"allowed is a whole number or a name; {seed!r} needs quotes to be a name, seed='\"NAME\"'")
    return seed


def _two(runs: Any) -> Any:
    """Two runs to compare."""
    if not isinstance(runs, list) or len(runs) != 2:
        raise ValueError("give two run folders, compare=[A,B]")
    return runs


class Settings(BaseModel):
    """The top-level keys and their bounds; the parts below a group are checked against their constructors."""

    model_config = ConfigDict(extra="forbid")

    stage: Plain
    track: Plain
    domain: dict[str, dict[str, Plain]] = Field(min_length=1)
    difficulty: dict[str, Plain] = Field(min_length=1)
    model: Plain
    strategy: Plain
    sandbox: Plain
    prover: Plain
    audit: Plain
    engine: Plain
    tracker: Plain
    seed: Annotated[StrictInt | Annotated[StrictStr, Field(min_length=1)], BeforeValidator(_name)]
    count: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | dict[str, Annotated[StrictInt, Field(ge=1, le=1_000_000)]]
    samples: Annotated[StrictInt, Field(ge=1, le=10_000)]
    pass_k: Annotated[list[Annotated[StrictInt, Field(ge=1)]], Field(min_length=1)]
    shard: Shard
    workers: Annotated[StrictInt, Field(ge=1, le=1024)] | None
    dataset: StrictStr | None
    limit: Annotated[StrictInt, Field(ge=1)] | None
    dry_run: StrictBool
    fresh: StrictBool
    rescore: StrictBool
    figures: StrictBool
    id: StrictStr | None
    reference: StrictStr | None
    tests: StrictStr | None
    cases: Annotated[StrictStr, Field(min_length=1)] | Annotated[list[StrictStr], Field(min_length=1)]
    suite: Suite
    compare: Annotated[list[StrictStr], BeforeValidator(_two)] | None
    against: StrictStr | None
    release: Annotated[StrictStr, Field(min_length=1)] | None
    repo_id: StrictStr | None
    private: StrictBool
    recheck: StrictInt | StrictStr
    outputs: Annotated[StrictStr, Field(min_length=1)]
    port: Annotated[StrictInt, Field(ge=1, le=65535)]


def register() -> None:
    """Make `${run_folder:}`, `${slug:...}` and model=PROVIDER/NAME known; calling it twice is harmless."""
    from proceval import ids

    ids.register()
    OmegaConf.register_new_resolver("run_folder", _run_folder, replace=True)
    OmegaConf.register_new_resolver("slug", naming.slug, replace=True)


def compose(*overrides: str) -> Plain:
    """The resolved configuration for these command-line words, without running anything: for notebooks and tests.

    Raises InputError where a key, option or value is wrong.
    """
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException

    from proceval.conftree import config_dir

    register()
    if wrong := words.misread(overrides):
        raise InputError(wrong)
    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(version_base="1.3", config_dir=str(config_dir())):
            settings = plain(hydra.compose("config", overrides=words.literal(overrides)))
    except (HydraException, omegaconf.errors.OmegaConfBaseException) as error:
        raise InputError(" ".join(str(error).split())) from error
    check(settings)
    return settings


def plain(cfg: DictConfig) -> Plain:
    """The configuration as dicts and lists, interpolations resolved, hydra's own part left out.

    Raises InputError for a missing value or an interpolation that leads nowhere.
    """
    try:
        own = OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])
        credentials.watch(credentials.variables(OmegaConf.to_container(own)))
        found = OmegaConf.to_container(own, resolve=True, throw_on_missing=True)
    except omegaconf.errors.MissingMandatoryValue as error:
        raise InputError(f"missing value: {_key(error)} must be given, e.g. {_key(error)}=VALUE") from error
    except omegaconf.errors.OmegaConfBaseException as error:
        raise InputError(f"configuration key {_key(error)}: {str(error).splitlines()[0]}") from error
    assert isinstance(found, dict)
    credentials.watch(given=credentials.given(found))
    odd = [(path, value) for path, value in _numbers(found) if not math.isfinite(value)]
    if odd:
        path, value = min(odd, key=lambda item: len(item[0]))  # where it was written: stage and domain repeat it
        raise InputError(f"{path}={value}: must be a finite number")
    return {str(key): value for key, value in found.items()}


def check(settings: Plain) -> Settings:
    """Validate the whole resolved configuration. Raises InputError naming every offending key."""
    try:
        checked = Settings.model_validate(settings)
    except ValidationError as error:
        raise InputError("; ".join(_sentences(error))) from error
    _check_names(settings)
    for path, limits in _limits(settings):
        _check_limits(path, limits)
    for path, node in _targets(
        {**{key: settings[key] for key in settings if key != "stage"}, "stage": settings["stage"]}
    ):
        _check_call(path, node)  # the stage last: it repeats its parts, whose own keys are the ones to name
    return checked


def build(node: Plain, path: str) -> Any:
    """Instantiate a part with everything below it. Raises InputError where a constructor refuses its values."""
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    for where, target in _targets(node, path):
        _check_call(where, target)
    try:
        return instantiate(OmegaConf.create(node), _convert_="all")
    except InstantiationException as error:
        cause = error.__cause__
        while cause is not None and not isinstance(cause, InputError | ImportError | ValidationError):
            cause = cause.__cause__
        if isinstance(cause, InputError):
            raise cause from error
        if isinstance(cause, ValidationError):
            raise InputError(f"{path}: " + "; ".join(_sentences(cause))) from error
        root = error.__cause__ or error
        raise InputError(f"{path}: {cause or ' '.join(str(root).split())}") from error


def redact(node: Any) -> Any:
    """A copy without credentials: neither under a key that looks like one's, nor any known one anywhere."""
    return credentials.hidden(node)


def identity(settings: Plain) -> str:
    """64 hex digits that follow from everything a run computes, and from nothing else: another key is the same run."""
    return digest(credentials.identified({key: value for key, value in settings.items() if key not in PRESENTATION}))


def generation_identity(settings: Plain) -> str:
    """64 hex digits that follow from everything a dataset's bytes depend on, solvers and source text included."""
    keys = {key: settings[key] for key in GENERATION}
    asked = naming.option(settings["prover"]).split("_")
    solvers = {name: version for name, version in versions()["solvers"].items() if name.split("-")[0] in asked}
    return digest({"keys": keys, "versions": solvers, "source": source_digest()})


def _run_folder(*, _root_: DictConfig) -> str:
    settings = plain(_root_)
    _check_names(settings)
    return naming.run_folder(settings, identity(settings))


def _key(error: Exception) -> str:
    return str(getattr(error, "full_key", None) or getattr(error, "key", None) or "?")


def _sentences(error: ValidationError) -> Iterator[str]:
    """One sentence a key; where a key takes several types, what is said of the one that was given."""
    found = error.errors(include_url=False)
    for item in found:
        same = [other for other in found if other["loc"][0] == item["loc"][0]]
        told = [other for other in same if not other["type"].endswith("_type")] or same
        if item is not told[0]:
            continue
        inner = ("constrained", "function-", "dict[", "list[", "str", "int")
        key = ".".join(str(part) for part in item["loc"] if not str(part).startswith(inner))
        if item["type"] == "extra_forbidden":
            yield f"unknown key '{key}'; known keys: {', '.join(sorted(Settings.model_fields))}"
        elif item["type"] == "missing":
            yield f"missing key '{key}'"
        else:
            message = item["msg"].removeprefix("Value error, ")
            yield f"{key}={item['input']!r}: {message[0].lower()}{message[1:]}"


def _numbers(node: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every fraction below `node` with its key path; those that are none (nan, inf) are no JSON either."""
    if isinstance(node, float):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _numbers(value, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _numbers(value, f"{path}.{index}")


def _targets(node: Any, path: str = "") -> Iterator[tuple[str, Plain]]:
    """Every dict below `node` that names a target, with its key path."""
    if isinstance(node, dict):
        if TARGET in node:
            yield path, node
        for key, value in node.items():
            yield from _targets(value, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _targets(value, f"{path}.{index}")


def _limits(node: Any, path: str = "") -> Iterator[tuple[str, Plain]]:
    """Every mapping of worker or sandbox limits below `node`, with its key path; the stage only repeats its parts'."""
    if isinstance(node, dict):
        for key, value in node.items():
            where = f"{path}.{key}" if path else str(key)
            if key == "limits" and isinstance(value, dict):
                yield where, value
            elif where != "stage" or "limits" in node.get("stage", {}):
                yield from _limits(value, where)


def _check_names(settings: Plain) -> None:
    shown = naming.described(settings) | {key: str(settings[key]) for key in (*naming.TOLD, "outputs")}
    for key, value in shown.items():
        if credentials.redact(value) != value:
            raise InputError(f"{key}: a credential of the environment stands there, and runs are named after this key")


def _check_limits(path: str, limits: Plain) -> None:
    """Bounds below which nothing could run and which would only be noticed after the work was paid for."""
    least = {"cpu_s": 0.001, "wall_s": 0.001, "memory_bytes": 32 << 20, "output_bytes": 1, "file_bytes": 0}
    for key, floor in least.items():
        value = limits.get(key, floor)
        if isinstance(value, bool) or not isinstance(value, int | float) or not floor <= value < float("inf"):
            raise InputError(f"{path}.{key}={value!r}: allowed is a number of at least {floor}")


def _check_call(path: str, node: Plain) -> None:
    """Check a target and its keys against the constructor's signature and type hints."""
    target = node[TARGET]
    if not isinstance(target, str) or not target.startswith(ALLOWED_TARGETS):
        raise InputError(f"{path}.{TARGET}={target!r}: only targets inside proceval. and sandbox. are allowed")
    module, _, name = target.rpartition(".")
    try:
        made = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{path}.{TARGET}={target!r}: {error}") from error
    parameters = inspect.signature(made).parameters
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    keys = [str(key) for key in node if key not in (TARGET, "_convert_", "_recursive_", "_partial_")]
    for key in keys:
        if key not in parameters and not open_ended:
            raise InputError(words.unknown(f"{path}.{key}", parameters))
    missing = [n for n, p in parameters.items() if p.default is p.empty and p.kind is p.KEYWORD_ONLY and n not in node]
    if missing:
        raise InputError(f"missing key '{path}.{missing[0]}'")
    hints = typing.get_type_hints(made.__init__ if inspect.isclass(made) else made, include_extras=True)
    for key in keys:
        if key in hints and not any(True for _ in _targets(node[key])):
            _check_value(f"{path}.{key}", node[key], hints[key])


def _check_value(key: str, value: Any, hint: Any) -> None:
    try:
        TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True)).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        below = "".join(f".{part}" for part in first["loc"] if isinstance(part, str) and part.isidentifier())
        raise InputError(
            f"{key}{below if isinstance(value, dict) else ''}={value!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
        ) from error
