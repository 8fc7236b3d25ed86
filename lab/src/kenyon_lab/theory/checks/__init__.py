"""Claims with their checks, one topic per module."""
