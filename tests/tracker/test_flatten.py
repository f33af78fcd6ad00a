"""Flat configurations: every leaf once, and no secret whatever it is called."""

import pytest

from proceval.tracker.flatten import flatten, parts


def test_leaves_keep_their_path_and_type() -> None:
    config = {"a": {"b": 1, "c": {"d": None}}, "list": [1, {"e": "x"}], "empty": {}, "on": True}
    assert flatten(config) == {"a.b": 1, "a.c.d": None, "list": [1, {"e": "x"}], "empty": {}, "on": True}


@pytest.mark.parametrize(
    "key",
    ["api_key", "apikey", "OPENAI_API_KEY", "access_token", "token", "password", "client_secret", "Authorization"],
)
def test_values_of_secret_keys_are_removed_at_any_depth(key: str) -> None:
    config = {"model": {key: "hunter2"}, "list": [{"deep": {key: "hunter2"}}]}
    assert "hunter2" not in repr(flatten(config))
    assert flatten({key: None}) == {key: None}  # "not set" is no secret


@pytest.mark.parametrize("key", ["max_tokens", "tokens_per_minute", "budget_tokens", "keys", "monkey", "tokenizer"])
def test_settings_that_only_sound_like_secrets_stay(key: str) -> None:
    assert flatten({"engine": {key: 5}}) == {f"engine.{key}": 5}


@pytest.mark.parametrize(
    "text",
    [
        "http://user:hunter2hunter2@host/v1",
        "Bearer hunter2hunter2hunter2",
        "sk-hunter2hunter2hunter2",
        "use hf_hunter2hunter2hunter2 for it",
    ],
)
def test_secrets_inside_other_texts_are_removed(text: str) -> None:
    assert "hunter2" not in repr(flatten({"model": {"note": text, "list": [text]}}))


def test_names_are_what_a_person_types() -> None:
    config = {
        "stage": {"_target_": "proceval.stage.evaluate.Evaluate"},
        "model": {"_target_": "proceval.model.mock.Mock", "id": None},
        "domain": {"arrays": {}, "graphs": {}},
        "difficulty": {"easy": {}},
    }
    assert parts(config) == {"stage": "evaluate", "model": "mock", "domain": "arrays+graphs", "difficulty": "easy"}
    assert parts({}) == {"stage": "-", "model": "-", "domain": "-", "difficulty": "-"}
