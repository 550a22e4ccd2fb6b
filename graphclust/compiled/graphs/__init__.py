"""Loops over the rows of graphs."""
