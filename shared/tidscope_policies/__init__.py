"""Policies that decide the size of a pool from the work that it did.

Takes one `Observation` an interval and gives a `Decision` (contract.py); registry.py lists the
policies. Pure: no clock, no I/O, no global state. Must not import other tidscope packages.
"""
