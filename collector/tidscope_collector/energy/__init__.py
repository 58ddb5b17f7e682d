"""Energy counters of RAPL.

Takes the powercap tree of /sys; gives energy since the first reading. Must not know about targets.
"""
