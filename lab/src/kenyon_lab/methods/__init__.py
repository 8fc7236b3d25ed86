"""The methods of the paper and of today, each taught one task after another."""
