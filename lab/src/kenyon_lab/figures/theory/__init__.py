"""Figures of the theory, one per claim."""
