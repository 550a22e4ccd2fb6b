"""The doors: what a user calls to cluster a graph. Each file begins with the way of its call from room to room."""
