"""Families over complete deterministic finite automata."""
