"""The two-step method: a large graph is contracted to regions that come from a coreset, then partitioned."""
