"""Targets of several processes: who belongs to them, and what each process adds up to."""
