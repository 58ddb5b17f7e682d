"""Debug files of programs that are stripped here, from debuginfod servers that an operator names.

A limited process fetches and checks each file, and the collector's limited children read them in a
folder that the two share. Must not know how names are found in a debug file.
"""
