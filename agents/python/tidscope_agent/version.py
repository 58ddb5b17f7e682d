"""The version of this package, reported to collectors; the same as in pyproject.toml."""

VERSION = "0.1.0"
