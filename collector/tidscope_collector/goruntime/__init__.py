"""Static inspection of Go programs: build information, symbols, and variables of the runtime.

Takes an open ELF file, which may be hostile; gives versions and addresses. Runs in limited
children: must not import heavy modules or read processes.
"""
