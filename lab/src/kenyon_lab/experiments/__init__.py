"""The paper's experiments other than its comparison of methods, one per module."""
