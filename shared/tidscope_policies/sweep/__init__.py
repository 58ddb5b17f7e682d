"""Sweeps: measure the throughput of a pool at every size, with confidence intervals. Pure."""
