"""Judges policies on a simulated pool: `python -m tidscope_collector policies bench`."""
