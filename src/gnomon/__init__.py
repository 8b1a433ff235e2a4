"""Gnomon: how far to trust what a text-analysis system tells you."""

__version__ = "0.1.0"
