"""Families over directed acyclic graphs."""
