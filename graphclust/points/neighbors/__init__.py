"""Nearest neighbors of points, and the graphs that they make."""
