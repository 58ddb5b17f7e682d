"""Whether thread pools fit the CPUs that their programs may use."""
