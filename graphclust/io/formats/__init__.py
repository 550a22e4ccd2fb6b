"""Formats of graph files, one module each."""
