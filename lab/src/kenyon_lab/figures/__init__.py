"""The figures, one a file; each is drawn from results that were kept."""
