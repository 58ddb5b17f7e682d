"""Detection of traces whose critical path differs from those of their endpoint."""
