"""Scores policies on simulated pools: `tidscope policies bench`."""
