"""k-means on vectors: seeding, Lloyd's iteration and its scalable relatives."""
