"""Every number of clusters at once, and which of them the graph shows."""
