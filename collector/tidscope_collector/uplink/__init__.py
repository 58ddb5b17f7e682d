"""Connection to the backend: sign-in, commands, frames and their replay.

Takes frames and targets; gives commands to handlers. Must not know how samples are taken.
"""
