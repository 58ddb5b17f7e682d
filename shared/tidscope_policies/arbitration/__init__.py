"""Division of cores among programs: beliefs about each program, and the best division for them.

Must not know how cores are given to a program.
"""
