"""Slow twins, straight from the definitions, that the package is compared with on small graphs."""
