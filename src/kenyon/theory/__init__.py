"""The paper's definitions and theorems, as functions that can be checked."""
