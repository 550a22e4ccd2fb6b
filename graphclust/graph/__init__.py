"""Graphs: the container, the gate into it, and matrices seen through its rows."""
