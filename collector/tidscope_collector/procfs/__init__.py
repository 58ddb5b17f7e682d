"""Readers of /proc: processes, control groups and delay accounting.

Takes paths below a root that tests replace; gives parsed values. Must not know about targets.
"""
