"""Loops over the bytes of files."""
