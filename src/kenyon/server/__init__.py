"""The store over HTTP: `kenyon serve` starts it, `kenyon.client` talks to it."""
