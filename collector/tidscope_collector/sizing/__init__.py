"""Sizing: compares pool sizes with the CPUs that programs may use.

Takes processes; gives verdicts and suggested settings. Must not change anything.
"""
