"""The form in which every source gives the counters of threads."""
