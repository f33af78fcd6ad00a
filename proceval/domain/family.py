"""What all families share: levels read from the tiers, the checked specification, and the shape of an instance."""

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StrictInt, ValidationError

from proceval.errors import InputError, Malformed
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec


class Level(BaseModel, ABC):
    """The sizes of one tier as one family reads them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def sizes(self, instance: Instance) -> dict[str, list[int]]:
        """For each range of the level, what the instance measures there (several values where it has several parts)."""

    def fits(self, instance: Instance) -> bool:
        """Whether every measure of the instance lies within the level's range."""
        for name, measured in self.sizes(instance).items():
            low, high = getattr(self, name)
            if not all(low <= size <= high for size in measured):
                return False
        return True


L = TypeVar("L", bound=Level)


def _pair(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


Range = Annotated[tuple[StrictInt, StrictInt], BeforeValidator(_pair)]
"""Two integers [low, high], both included."""


def span(lowest: int, highest: int) -> AfterValidator:
    """Bounds of a Range: lowest <= low <= high <= highest."""

    def check(value: tuple[int, int]) -> tuple[int, int]:
        if not lowest <= value[0] <= value[1] <= highest:
            raise ValueError(f"allowed is [low, high] with {lowest} <= low <= high <= {highest}")
        return value

    return AfterValidator(check)


class Base(ABC, Generic[L]):
    """Base of all families; a subclass states its facts, and `solver`, the function that the audit mutates.

    The docstring of `solver` is the statement that a model reads, so the contract stands beside the code it binds.
    """

    domain: ClassVar[str]
    version: ClassVar[int]
    logic: ClassVar[str]
    oracle_name: ClassVar[str]
    solver: ClassVar[Callable[..., Any]]
    imports: ClassVar[str] = ""
    """Import lines that the reference needs, or nothing."""
    source: ClassVar[str] = ""
    """Where the reference's algorithm comes from."""
    level: ClassVar[type[Level]]

    def __init__(self, *, difficulty: Mapping[str, Any], own: Mapping[str, Any]):
        solver = type(self).solver
        self.name = self.entry_point = solver.__name__
        self.parameters = tuple(inspect.signature(solver).parameters)
        self.statement = inspect.cleandoc(solver.__doc__ or "")
        self.reference = self.imports + inspect.getsource(solver)
        self.levels: dict[str, L] = {tier: self._resolve(tier, sizes, own) for tier, sizes in difficulty.items()}

    @property
    def tiers(self) -> Sequence[str]:
        return tuple(self.levels)

    def fits(self, instance: Instance, tier: str) -> bool:
        return self.levels[tier].fits(instance)

    def _resolve(self, tier: str, sizes: Mapping[str, Any], own: Mapping[str, Any]) -> L:
        """The tier's sizes for the domain, then for this family, then the family's own; the last word wins."""
        if not isinstance(sizes, Mapping) or self.domain not in sizes:
            raise InputError(f"difficulty.{tier}.{self.domain} is missing; a tier states sizes for every domain in use")
        homes = {
            f"difficulty.{tier}.{self.domain}": sizes[self.domain],
            f"difficulty.{tier}.{self.name}": sizes.get(self.name) or {},
            f"domain.{self.domain}.{self.name}": {key: value for key, value in own.items() if value is not None},
        }
        merged: dict[str, Any] = {}
        origin: dict[str, str] = {}
        for home, values in homes.items():
            if not isinstance(values, Mapping):
                raise InputError(f"{home} must be a mapping with the keys {self._keys()}")
            merged.update(values)
            origin.update(dict.fromkeys(map(str, values), home))
        try:
            return self.level.model_validate(merged)  # type: ignore[return-value]
        except ValidationError as error:
            raise InputError(self._explain(error, origin, merged, tier)) from None

    def _explain(self, error: ValidationError, origin: Mapping[str, str], merged: Mapping[str, Any], tier: str) -> str:
        first = error.errors()[0]
        key = str(first["loc"][0])
        where = f"{origin.get(key, f'difficulty.{tier}.{self.domain}')}.{key}"
        if first["type"] == "extra_forbidden":
            return f"{where} is not a key of {self.name}; allowed are {self._keys()}"
        if first["type"] == "missing":
            return f"{where} is missing; {self.name} needs {self._keys()}"
        allowed = self.level.model_fields[key].description
        return f"{where} is {merged[key]!r}; {self.name} allows {allowed}"

    def counted(self, key: str, value: int, most: int) -> int:
        """The value of one of the family's own parameters. Raises InputError unless it is an integer from 1 to `most`."""
        if not is_integer(value, 1, most):
            where = f"domain.{self.domain}.{self.name}.{key}"
            raise InputError(f"{where} is {value!r}; allowed is an integer from 1 to {most}")
        return value

    def _keys(self) -> str:
        return ", ".join(self.level.model_fields)

    def specification(self, instance: Instance) -> Spec:
        """The specification of a valid instance. Raises Malformed before any solver sees a bad one.

        The instance passes through JSON first, so nothing but its stored form can shape the specification.
        """
        instance = json.loads(json.dumps(instance))
        self.validate(instance)
        spec = Spec(self.logic)
        self.specify(instance, spec)
        return spec

    def fields(self, instance: Instance) -> None:
        """Raises Malformed unless the instance has exactly the entry point's parameters."""
        if not isinstance(instance, dict) or set(instance) != set(self.parameters):
            raise Malformed(f"{self.name} takes exactly {', '.join(self.parameters)}")

    def verdict(self, instance: Instance, answer: Callable[..., Truth]) -> Truth:
        """An oracle's verdict: malformed where the contract is broken, else what the algorithm says."""
        try:
            self.validate(instance)
        except Malformed:
            return Truth("malformed")
        return answer(**instance)

    @abstractmethod
    def sample(self, rng: Random, tier: str) -> Instance: ...

    @abstractmethod
    def validate(self, instance: Instance) -> None: ...

    @abstractmethod
    def specify(self, instance: Instance, spec: Spec) -> None: ...

    @abstractmethod
    def oracle(self, instance: Instance) -> Truth: ...

    @abstractmethod
    def small(self) -> Iterator[Instance]: ...

    @abstractmethod
    def examples(self) -> Sequence[Instance]: ...

    @abstractmethod
    def targeted(self, rng: Random) -> Iterator[Instance]: ...

    def canonical(self, instance: Instance, tier: str) -> Json:
        """The instance as it is: right where no relabelling keeps the answer."""
        return [instance[name] for name in self.parameters]

    def space(self, tier: str) -> int | None:
        """Not counted."""
        return None


def is_integer(value: Any, low: int | None = None, high: int | None = None) -> bool:
    """True for an int (never a bool) within low..high, both included; None leaves a side open."""
    return type(value) is int and (low is None or value >= low) and (high is None or value <= high)
