"""Spans: received and imported, kept beside the runs, and joined with what threads did."""
