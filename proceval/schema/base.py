"""What all records share."""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

SCHEMA_VERSION = 1

Json = Any
"""A JSON value: None, bool, int of any size, float, str, list, dict with str keys."""

Status = Literal["unique", "ambiguous", "infeasible", "malformed", "unknown"]
"""What a proof or an oracle says of an instance; only `unique` is ever shipped."""


class Record(BaseModel):
    """Base of all records: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sparse(Record):
    """A record whose fields named in `SPARSE` are left out of its JSON while they hold their defaults."""

    SPARSE: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _sparse(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = plain(self)
        for name in self.SPARSE:
            if getattr(self, name) == type(self).model_fields[name].default:
                found.pop(name, None)
        return found
