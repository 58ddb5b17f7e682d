"""Stacks of threads: the program that takes them, and the tables of frames that they become."""
