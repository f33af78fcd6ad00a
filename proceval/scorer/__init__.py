"""Judges: what counts as an answer, and whether it is right."""
