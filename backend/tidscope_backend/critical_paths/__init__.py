"""Critical paths from trace files, and their output formats."""
