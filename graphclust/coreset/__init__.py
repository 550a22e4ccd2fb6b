"""Coreset spectral clustering (Jourdan, Schwartzman, Macgregor & Sun, ICLR 2025), one stage a file."""
