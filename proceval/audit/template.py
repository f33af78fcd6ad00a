"""A reference with its mutants, made once per process; hundreds of problems of a family share it."""

import ast
from dataclasses import dataclass
from functools import lru_cache

from proceval.audit.mutate import Candidate, candidates
from proceval.audit.operators import GATE, ORIGINAL, REPORTED, Operator
from proceval.errors import InputError
from proceval.seeding import text_digest

TIERS: dict[str, tuple[Operator, ...]] = {"gate": GATE, "reported": REPORTED, "original": ORIGINAL}


@dataclass(frozen=True)
class Template:
    """One reference text and its mutants under a choice of operator tiers."""

    source: str
    sha256: str
    mutants: tuple[Candidate, ...]
    broken: dict[str, str]
    """Id -> why it does not compile."""
    tier: dict[str, str]
    """Operator name -> tier."""

    @property
    def normal(self) -> str:
        """The reference as its mutants are written: without comments, in the layout of `ast.unparse`."""
        return ast.unparse(ast.parse(self.source))

    @property
    def runnable(self) -> list[Candidate]:
        """Mutants that compile and are nobody's twin."""
        return [m for m in self.mutants if m.twin is None and m.id not in self.broken]


@lru_cache(maxsize=256)
def template(source: str, tiers: tuple[str, ...]) -> Template:
    """The template of a source. Raises InputError for a source that is not Python."""
    try:
        mutants = tuple(candidates(source, [TIERS[tier] for tier in tiers]))
    except SyntaxError as error:
        raise InputError(f"the reference is not Python: {error.msg}, line {error.lineno}") from error
    broken = {mutant.id: reason for mutant in mutants if (reason := _compile_error(mutant.text))}
    tier_of = {operator.name: tier for tier in tiers for operator in TIERS[tier]}
    return Template(source, text_digest(source), mutants, broken, tier_of)


def _compile_error(text: str) -> str | None:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(text, "<mutant>", "exec")
    except SyntaxError as error:
        return f"does not compile: {error.msg}"
    return None


def entry_point_of(source: str) -> str:
    """Name of the last public function of a module: the one that a file of somebody's own is about."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise InputError(f"the reference is not Python: {error.msg}, line {error.lineno}") from error
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    if not names:
        raise InputError("the reference defines no public function at module level")
    return names[-1]
