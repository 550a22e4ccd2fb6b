"""Spectral embeddings and the spectral clustering of whole graphs."""
