"""Reproduction of the paper: what is run, how its statements are judged, and the report."""
