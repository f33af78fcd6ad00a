"""Runs code that nobody trusts: values come back over a private channel, and the host compares them."""
