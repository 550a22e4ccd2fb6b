"""Clustering of points: k-means, kernel k-means, and the graphs of nearest neighbors."""
