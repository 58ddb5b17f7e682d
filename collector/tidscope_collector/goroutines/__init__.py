"""Goroutines of Go programs by stack, by the programs' own profiles.

Takes processes; gives rows of `goroutines` and `goroutine_stacks`.
"""
