"""Symbols: names of native frames, which unwinders give as addresses in files.

Takes frames of one target; gives function, file, line and inlined functions later. Limited children
read the files. Must not know who unwinds, or how frames travel.
"""
