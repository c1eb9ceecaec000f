"""Floor 2: what every metric family stands on: inputs, keys, exact sums, exchanges, threads, the registry."""
