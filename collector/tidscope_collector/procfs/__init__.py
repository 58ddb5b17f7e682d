"""Readers of /proc: processes, control groups, delay accounting, and threads without taskstats.

Takes paths below a root that tests replace; gives parsed values. Must not know about targets.
"""
