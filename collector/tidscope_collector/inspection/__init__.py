"""Files and memory of processes that others made, read by limited children."""
