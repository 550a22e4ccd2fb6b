"""Better partitions of a graph by its normalised cut: moving nodes, merging clusters, and both on coarser graphs."""
