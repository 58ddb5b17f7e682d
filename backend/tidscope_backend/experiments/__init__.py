"""Experiments: workloads under a matrix of settings, repeated until the numbers are precise.

Takes an experiment file; gives a journal, runs and a report. Must not know HTTP.
"""
