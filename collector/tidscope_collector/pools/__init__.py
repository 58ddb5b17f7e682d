"""Worker pools of targets: their figures as reported by agents or programs.

Takes a process; gives rows of `pools` and `pool_times`. Must not set sizes.
"""
