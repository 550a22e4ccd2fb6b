"""Random graphs with planted clusters."""
