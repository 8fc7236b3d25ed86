"""The claims of the theory, one part a file, each with the check that can refute it."""
