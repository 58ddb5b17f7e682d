"""Export and import of runs: see docs/runs.md."""
