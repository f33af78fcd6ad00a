"""Tracks: what is asked, and who judges it."""
