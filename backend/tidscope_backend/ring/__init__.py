"""The ring: frames of all targets of a host at full rate, for the last minutes, as parts of runs.

Must not load libraries of tables in the process that writes it, which is small for that reason.
"""
