"""The sampler's engine as Python steers it: targets, rates, budget, tables, and its notices."""
