"""The result of a proof: what its run says, and a picture of it."""
