"""The standard audit: 22 operators, each applied wherever it fits."""

from proceval.audit.gate import Gate


class Standard(Gate):
    """Withholds a problem for any survivor of the gate tier; the tier `reported` is only measured and shown."""

    version = 1
    gate_tiers = frozenset({"gate"})
