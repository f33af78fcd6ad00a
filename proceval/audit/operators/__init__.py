"""The mutation operators, one small class each; an operator's examples are its documentation and its tests.

`GATE` is what every problem's tests must kill. `REPORTED` is measured and shown but never withholds a problem: its
mutants are mostly equivalent or need inputs of a special size. `ORIGINAL` is the set of the original proceval.
"""

from proceval.audit.operators.arithmetic import Arithmetic, Augmented, Operand, Unary
from proceval.audit.operators.calls import Arguments, Call, Keyword, Method, RangeArguments, Unwrap
from proceval.audit.operators.constants import Constant
from proceval.audit.operators.logic import Condition, Conjunct, Connector, Membership, Relation
from proceval.audit.operators.operator import Edit, Operator, Site
from proceval.audit.operators.original import BooleanFlag, ComparisonFlip, PlusMinusOne
from proceval.audit.operators.reported import Identity, Insertion, Reversal, Variable
from proceval.audit.operators.statements import Deletion, Leave, LoopOnce, ReturnValue
from proceval.audit.operators.subscripts import Index, SliceBound

GATE: tuple[Operator, ...] = (
    Relation(),
    Membership(),
    Connector(),
    Conjunct(),
    Condition(),
    Arithmetic(),
    Operand(),
    Augmented(),
    Unary(),
    Constant(),
    Deletion(),
    ReturnValue(),
    LoopOnce(),
    Leave(),
    Call(),
    Method(),
    Keyword(),
    Unwrap(),
    Arguments(),
    RangeArguments(),
    Index(),
    SliceBound(),
)
REPORTED: tuple[Operator, ...] = (Identity(), Insertion(), Reversal(), Variable())
ORIGINAL: tuple[Operator, ...] = (ComparisonFlip(), PlusMinusOne(), BooleanFlag())

__all__ = ["GATE", "ORIGINAL", "REPORTED", "Edit", "Operator", "Site"]
