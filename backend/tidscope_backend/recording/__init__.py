"""Recording of runs: frames in, parts and manifests out. Knows no pages and no HTTP."""
