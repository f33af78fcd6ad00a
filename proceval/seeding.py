"""Child seeds by hash of a path, so that neighbouring seeds share nothing.

With `seed + index`, sets of seed 42 and 43 share all but one item; a hash of the whole path has no such neighbours.
"""

import hashlib
import json
from random import Random
from typing import Any


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, no NaN; what every hash in proceval is taken over."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON text, 64 hex digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def rng(*path: str | int) -> Random:
    """A generator for one seed path such as (family, version, tier, seed, index, attempt).

    Equal paths give equal streams on every platform, process and hash seed.
    """
    return Random(int(digest(list(path)), 16))
