"""What the providers' own refusals mean: waiting helps against a limit of speed, and never against a bill.

Statuses, codes and wordings as the providers document or send them; names and figures are made up.
"""

import json
from pathlib import Path

import pytest

from proceval.model.faults import kind_of
from proceval.model.openai_http import _message
from tests.arena import Endpoint, evaluate, http_model, problem, quick

PAY = (
    "Please add a payment method to your account to increase your rate limit. Visit https://api.example/account/billing"
)
BILL = "You exceeded your current quota, please check your plan and billing details."
GEMINI = f"{BILL} For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."

REFUSALS: list[tuple[str, int, str, str]] = [
    ("OpenAI", 429, f"Rate limit reached for default-gpt-3.5 in organization o on requests per min. {PAY}", "rate_limit"),
    ("OpenAI", 429, f"Rate limit reached for m in organization o on tokens per day (TPD): Limit 9. {PAY}", "rate_limit"),
    ("OpenAI", 429, "Request too large for m on tokens per min (TPM): Limit 3, Requested 4 (rate_limit_exceeded, tokens)",
     "rate_limit"),
    ("OpenAI", 429, "Your request rate rose too fast (slow_down, rate_limit_error)", "rate_limit"),
    ("OpenAI", 429, f"{BILL} (insufficient_quota)", "quota"),
    ("OpenAI", 429, f"{BILL} For more, read the docs: https://api.example/docs/guides/error-codes/api-errors.", "quota"),
    ("OpenAI", 429, f"{BILL} (credit_balance_exhausted, insufficient_quota)", "quota"),
    ("OpenAI", 429, "Rate limit reached (project_spend_limit_exceeded, insufficient_quota)", "quota"),
    ("OpenAI", 429, "(organization_spend_limit_exceeded)", "quota"),
    ("OpenAI", 429, "(organization_usage_limit_exceeded)", "quota"),
    ("OpenAI", 429, "Your account is not active, please check your billing details (billing_not_active)", "quota"),
    ("OpenAI", 400, "Billing hard limit has been reached (billing_hard_limit_reached)", "quota"),
    ("litellm", 429, f"litellm.RateLimitError: RateLimitError: OpenAIException - {BILL}", "quota"),
    ("litellm", 429, f"litellm.RateLimitError: OpenAIException - Rate limit reached for m. {PAY}", "rate_limit"),
    ("Anthropic", 429, "This request would exceed your organization's rate limit of 9 input tokens per minute "
     "(rate_limit_error)", "rate_limit"),
    ("Anthropic", 529, "Overloaded (overloaded_error)", "rate_limit"),
    ("Anthropic", 429, "Paused until next month (rate_limit_error, enforced_spend_limit_reached)", "quota"),
    ("Anthropic", 400, "Your credit balance is too low to access the API. Please go to Plans & Billing", "quota"),
    ("Anthropic", 400, "You have reached your specified workspace API usage limits. You will regain access", "quota"),
    ("Anthropic", 402, "There is an issue with your billing (billing_error)", "quota"),
    ("OpenRouter", 402, "This request requires more credits, or fewer max_tokens. You can only afford 0.", "quota"),
    ("OpenRouter", 402, "Payment required", "quota"),
    ("OpenRouter", 403, "Key limit exceeded (total limit). Manage it in the settings", "quota"),
    ("OpenRouter", 429, "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests", "rate_limit"),
    ("OpenRouter", 429, "some/model:free is temporarily rate-limited upstream; add your own key", "rate_limit"),
    ("Azure", 429, "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI "
     "S0 pricing tier. Please retry after 9 seconds. For Free Account customers, upgrade to Pay as you Go", "rate_limit"),
    ("Azure", 429, "The system is currently experiencing high demand. Please retry after 20 seconds.", "rate_limit"),
    ("Azure", 403, "Out of call volume quota. Quota will be replenished in 10:00:00.", "quota"),
    ("Azure", 400, "triggering Azure OpenAI's content management policy (content_filter)", "content_filter"),
    ("Gemini", 429, GEMINI, "rate_limit"),
    ("Gemini", 429, f"{BILL} * Quota exceeded for metric: free_tier_requests, limit: 9. Please retry in 20.04s.",
     "rate_limit"),
    ("Gemini", 429, "Quota exceeded for quota metric 'requests' and limit 'request limit per minute'", "rate_limit"),
    ("Gemini", 429, "Resource has been exhausted (e.g. check quota). RESOURCE_EXHAUSTED", "rate_limit"),
    ("Gemini", 429, "Your prepayment credits are depleted. Manage your project and billing. RESOURCE_EXHAUSTED", "quota"),
    ("Gemini", 403, "This API method requires billing to be enabled (BILLING_DISABLED)", "quota"),
    ("any", 402, "", "quota"),
    ("any", 403, "You are not allowed to see billing", "authentication"),
    ("any", 400, "billing_address is no parameter", "bad_request"),
    ("any", 429, "See https://api.example/account/billing for your limits", "rate_limit"),
]  # fmt: skip


@pytest.mark.parametrize(("who", "status", "words", "kind"), REFUSALS)
def test_a_limit_of_speed_is_waited_for_and_a_bill_ends_the_run(who: str, status: int, words: str, kind: str) -> None:
    assert kind_of(status, words) == kind


def test_every_code_of_an_error_body_is_read() -> None:
    error = {"message": "no", "type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}
    assert _message(json.dumps({"error": error})) == "no (rate_limit_error, enforced_spend_limit_reached)"
    assert _message(json.dumps({"error": {"message": "no", "code": "a", "type": "a"}})) == "no (a)"
    assert _message(json.dumps({"error": {"message": "no", "details": [{"@type": "x"}]}})) == "no"
    assert _message('[{"error": {"status": "RESOURCE_EXHAUSTED"}}]') == '[{"error": {"status": "RESOURCE_EXHAUSTED"}}]'


def test_a_rate_limit_that_advertises_is_retried_and_does_not_end_the_run(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script(status=429, body=REFUSALS[0][2], headers={"Retry-After": "0.01"})
    report = evaluate([problem(0)], tmp_path, model=http_model(endpoint.base_url), engine=quick(attempts=3))
    assert (report.faults, report.stopped) == ({"rate_limit": 3}, None)
