"""The audit of the original proceval, for comparison: three operators, one or two mutants a reference."""

from proceval.audit.gate import Gate


class Original(Gate):
    """Withholds a problem for any surviving comparison flip, plus or minus one, or boolean flag."""

    version = 1
    gate_tiers = frozenset({"original"})
