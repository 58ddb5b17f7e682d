"""Experiments: workloads under a matrix of settings, repeated until the numbers stand."""
