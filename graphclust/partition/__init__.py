"""Partitions of a graph into k clusters: from fine to coarse and back, or from a coreset."""
