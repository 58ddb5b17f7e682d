"""Doctor: checks what this machine lets tidscope measure, and suggests fixes.

Takes facts and probes; gives a report. Must not change the machine.
"""
