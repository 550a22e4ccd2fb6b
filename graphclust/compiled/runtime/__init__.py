"""Running loops: blocks on threads, the cache, Ctrl-C."""
