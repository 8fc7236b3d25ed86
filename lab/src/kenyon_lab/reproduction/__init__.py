"""The paper again, from one command: what is run, what it says of the paper, and the report."""
