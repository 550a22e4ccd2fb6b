"""Graphs larger than memory, as folders of mapped arrays."""
