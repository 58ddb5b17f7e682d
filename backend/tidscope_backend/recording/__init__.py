"""Recording of runs: frames in, parts and manifests out. Must not know subscribers or HTTP."""
