"""Steering: a policy sets the size of a program's pool, or GOMAXPROCS, while the program runs.

Takes steering commands by target ID; gives sizes, and events about them. `loop/` runs the policy of
one target. Must not know how commands arrive or how frames are sent.
"""
