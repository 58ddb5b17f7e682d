"""Decide the size of a pool from what it got done. Pure: no clock, no I/O, no global state.

A policy is a state machine that is fed one `Observation` an interval and answers each with a
`Decision`; see contract.py. One policy a file, `registry.py` lists them. Nothing here imports
anything of ours from outside this folder.
"""
