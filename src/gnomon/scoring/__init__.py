"""Scores of what a system found against what is there."""
