"""Results of proofs and sweeps, read from runs, and their pictures."""
