"""Families over arrays of integers."""
