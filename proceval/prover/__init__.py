"""Provers: the only place that knows solvers."""
