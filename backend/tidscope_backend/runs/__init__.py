"""Runs: recorded, kept as folders that explain themselves, compared (docs/runs.md)."""
