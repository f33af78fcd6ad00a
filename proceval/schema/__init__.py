"""The records: frozen data that stages pass on, in three keyed tables that never mix.

Problem is content and never changes. Evidence (Certificate, AuditReport) is keyed by problem and by the versions that
made it. Response is what a model was paid for. Verdicts and summaries are recomputed from these.
"""

from proceval.schema.agent import AgentCase, AgentCheck, Call, CheckKind, WeightedCriterion
from proceval.schema.answer import (
    UNSCORED,
    Completion,
    Fault,
    Grade,
    Message,
    Mode,
    Outcome,
    RequestFault,
    Response,
    TestResult,
    ToolCall,
    Verdict,
)
from proceval.schema.base import SCHEMA_VERSION, Json, Record, Sparse, Status
from proceval.schema.evidence import AuditReport, Certificate, Fate, Mutant, Opinion, Query, Rejection
from proceval.schema.problem import Problem, Test
from proceval.schema.review import ABSENT, CaseFile, Criterion, CriterionKind, ReviewCase

__all__ = [
    "Json",
    "Record",
    "SCHEMA_VERSION",
    "Sparse",
    "Status",
    "AgentCase",
    "AgentCheck",
    "Call",
    "CheckKind",
    "WeightedCriterion",
    "Problem",
    "Test",
    "ABSENT",
    "AuditReport",
    "CaseFile",
    "Criterion",
    "CriterionKind",
    "ReviewCase",
    "Certificate",
    "Fate",
    "Mutant",
    "Opinion",
    "Query",
    "Rejection",
    "Completion",
    "Fault",
    "Grade",
    "Message",
    "Mode",
    "Outcome",
    "RequestFault",
    "Response",
    "TestResult",
    "ToolCall",
    "UNSCORED",
    "Verdict",
]
