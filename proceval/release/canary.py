"""The canary string: text that stands in every row and in the card, so that a corpus that holds the set can be found out.

The first part is the same for all sets of proceval, so that one search finds them all; the second names the set.
"""

from proceval.seeding import text_digest

PROJECT = "PROCEVAL CANARY 9c1f6c1e-5d0b-4e0e-9b53-7a6f3f0c2d18"


def canary(dataset_sha256: str) -> str:
    """The canary of the set whose dataset.jsonl has this hash."""
    return f"{PROJECT} set {text_digest('canary ' + dataset_sha256)[:16]}"
