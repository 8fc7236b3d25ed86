"""The figures of the theory, one a file; each is drawn from what a check found."""
