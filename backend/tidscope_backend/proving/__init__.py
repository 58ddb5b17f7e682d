"""The result of a proof or a sweep: what its run says, and a picture of it."""
