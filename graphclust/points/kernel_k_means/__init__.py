"""Kernel k-means: full batch, mini-batch, truncated mini-batch and on a coreset, for any kernel."""
