"""Whose fault it is: every failure in proceval is one of these classes, and each class has one owner and one exit status."""

STATES = {0: "fine", 1: "finding", 2: "bad input", 3: "unscored", 130: "interrupted"}
"""What each exit status is called in tables."""


class ProcevalError(Exception):
    """Base of all errors that proceval raises on purpose; `exit_status` is what the process ends with."""

    exit_status = 1


class InputError(ProcevalError):
    """The user's configuration, file or command line is wrong; the message is one sentence naming the key, file or line."""

    exit_status = 2


class Malformed(ProcevalError):
    """An instance breaks its family's contract (cycle, partial table, zero weight, ...); it never reaches a solver."""


class Finding(ProcevalError):
    """The run worked and found something wrong: a surviving mutant, tampering, an oracle that disagrees."""

    exit_status = 1


class Unscored(ProcevalError):
    """Something stayed unscored through a provider, judge or sandbox fault."""

    exit_status = 3


class StorageError(ProcevalError):
    """The disk refused a record (full, read-only, over a size limit); what was appended before it is kept."""

    exit_status = 3


class ProviderError(ProcevalError):
    """A model endpoint failed: never the model's wrong answer.

    `kind` is one of rate_limit, server, timeout, connection (worth another try); context_length, content_filter,
    authentication, quota, bad_request, too_large (the answer), client (our own client broke; all permanent); not_asked
    (the run stopped before) or budget (so it did, for want of one). `retry_after_s` is the endpoint's own advice in
    seconds, or None; `attempts` is how many requests were sent before it was given up.
    """

    exit_status = 3
    TRANSIENT = frozenset({"rate_limit", "server", "timeout", "connection"})

    def __init__(self, kind: str, message: str, *, retry_after_s: float | None = None):
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.attempts = 0

    @property
    def transient(self) -> bool:
        return self.kind in self.TRANSIENT
