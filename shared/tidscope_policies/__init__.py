"""Policies that decide the size of a pool from the work that it did.

Takes one `Observation` an interval and gives a `Decision` (contract.py); registry.py lists the
policies. Pure: no clock, no I/O, no global state. Only the pure model of tidscope_predictd may be
imported from outside this folder.
"""
