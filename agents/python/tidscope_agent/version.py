"""The version of this package, told to collectors; the same as in pyproject.toml."""

VERSION = "0.1.0"
