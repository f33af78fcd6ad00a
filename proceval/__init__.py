"""proceval: algorithmic problems with proved answers, measured tests and durable evaluations."""

__version__ = "0.1.0"
