"""Strategies: how completions become one submitted text. They are handed two callables and can leak nothing."""
