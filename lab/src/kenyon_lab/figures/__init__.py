"""Figures, one per module, drawn from stored results."""
