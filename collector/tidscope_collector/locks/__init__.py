"""Which locks threads wait for: numbers and names of futex addresses, and of a runtime's locks."""
