"""Tables and lists of edges, line by line."""
