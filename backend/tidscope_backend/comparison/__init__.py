"""Comparison of runs: rates or totals with confidence intervals, roles, curves (docs/runs.md)."""
