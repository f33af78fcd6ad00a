"""What an endpoint's refusal means: one table for every client, because the endpoints are the same."""

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from proceval import credentials
from proceval.errors import ProviderError

_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum (?:prompt|input) length"
    r"|(?:prompt|input|messages?) (?:is|are|was) too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|reduce the length|prompt of \d+ tokens|exceed\w* .{0,60}(?:token|context)"
    r"|tokens? .{0,60}(?:over|exceed\w*|above) .{0,60}limit",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[ _-]?(?:filter|policy|management)|responsible ?ai|safety (?:system|policy)", re.IGNORECASE
)
_NO_MONEY = re.compile(
    r"insufficient_(?:quota|credits?|balance|funds)|billing_(?:hard_limit_reached|not_active|disabled|error)"
    r"|credit_balance_(?:exhausted|too_low)|(?:organization|project|enforced)_(?:spend|usage)_limit_(?:exceeded|reached)"
    r"|openrouter_(?:credits|key_limit)|credits? (?:are|is) depleted",
    re.IGNORECASE,
)
"""Codes, and words as plain as codes: waiting helps nobody."""
_WAIT = re.compile(
    r"rate[ _-]limit (?:was |is |has been )?(?:reached|exceeded)|rate_limit_(?:exceeded|reached)|rate[ -]limited"
    r"|per[ -]?min(?:ute)?\b|resource_exhausted|gemini-api/docs/rate-limits|(?:retry|try again) (?:in|after) [\d.]+",
    re.IGNORECASE,
)
"""Gemini says of a minute's requests what OpenAI says of money, "exceeded your current quota", but names the limit."""
_QUOTA = re.compile(
    r"insufficient (?:quota|credits?|balance|funds)|exceeded your current quota|credit balance is too low"
    r"|billing[ _-]?(?:hard limit|not active)|account is not active|requires billing to be enabled"
    r"|reached your specified .{0,20}usage limits|requires more credits|key limit exceeded|out of call volume quota",
    re.IGNORECASE,
)
_CONNECTION = re.compile(r"connection (?:error|refused|reset)|cannot connect", re.IGNORECASE)
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)
_LOOKS_SECRET = re.compile(r"\b(?:sk|pk|rk|hf|gsk|xai|ghp)[-_][A-Za-z0-9_*-]{6,}|(?i:bearer)\s+\S{8,}")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?\Z")
_SECONDS = re.compile(r"\d{1,12}(?:\.\d{1,9})?\Z")


def provider_error(
    status: int | None, message: str, headers: Mapping[str, str], *, now: datetime | None = None
) -> ProviderError:
    """The error for an HTTP status and an endpoint's words; `status` is None when no answer came."""
    text = redact(" ".join(message.split()))[:500]
    advice = retry_after_s(headers, now=now or datetime.now(UTC)) if status in (429, 503, 529) else None
    return ProviderError(kind_of(status, message), text, retry_after_s=advice)


def keyless(error: ProviderError) -> ProviderError:
    """The error as it is told where no key was sent: what the endpoint wants may be just that."""
    if error.kind != "authentication":
        return error
    return ProviderError(error.kind, f"{error} (no key was sent: name its variable, model.key_variable=NAME)")


_NO_KEY = re.compile(r"(?i)missing credentials|api_key client option must be set|no api[ _]key|missing .{0,20}api key")


def kind_of(status: int | None, message: str) -> str:
    """One of ProviderError's kinds."""
    if status is None:
        return "connection"
    if _NO_KEY.search(message):  # litellm reports a key that is not set as a server's failure
        return "authentication"
    if status in (400, 413, 422) and _CONTEXT.search(message):
        return "context_length"
    if status in (400, 403, 422) and _FILTER.search(message):
        return "content_filter"
    if status == 402 or (status in (400, 403, 429) and _spent(status, message)):
        return "quota"
    if status in (401, 403):
        return "authentication"
    if status == 408:
        return "timeout"
    if status in (429, 529):
        return "rate_limit"
    if status == 500 and _CONNECTION.search(message):  # as litellm reports an endpoint that is not there
        return "connection"
    return "server" if status >= 500 or status in (409, 425) else "bad_request"


def _spent(status: int, message: str) -> bool:
    """Whether a refusal is about money or a quota that no waiting gives back, rather than about speed."""
    if _NO_MONEY.search(message):
        return True
    return bool(_QUOTA.search(message)) and not (status == 429 and _WAIT.search(message))


def retry_after_s(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds to wait by an endpoint's own advice; 0 for a moment that has passed, None without usable advice.

    Reads `retry-after-ms`, `retry-after` (seconds or a date, RFC 9110), then the request-reset headers with durations
    such as 6m0s or 76ms. Negative and unreadable values are no advice. Not capped here.
    """
    lower = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    if _SECONDS.match(lower.get("retry-after-ms", "")):
        return float(lower["retry-after-ms"]) / 1000
    advice = lower.get("retry-after")
    if advice is not None:
        return float(advice) if _SECONDS.match(advice) else _until(advice, now)
    for name in ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens"):
        if lower.get("-".join(["x-ratelimit-remaining", name.rpartition("-")[2]])) == "0" or name.endswith("requests"):
            waits = duration_s(lower.get(name, ""))
            if waits is not None:
                return waits
    return None


def duration_s(text: str) -> float | None:
    """Seconds of a duration such as 1h2m3.5s, 76ms or a plain number; None for anything else."""
    if _SECONDS.match(text):
        return float(text)
    parts = _DURATION.match(text)
    if not text or not parts:
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in parts.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def redact(text: str) -> str:
    """The text without any credential of this environment or configuration, and without anything that looks like one."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "[redacted]")
    return _LOOKS_SECRET.sub("[redacted]", credentials.redact(text))


def _until(date: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(date)
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
