"""Runs held side by side. Pure: tables and manifests in, a `Comparison` out (docs/runs.md)."""
