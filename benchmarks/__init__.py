"""Ratios against peers and floors, and the coverage study."""
