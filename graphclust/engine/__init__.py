"""The multilevel engine: levels, moves, unions, refinement, and bounds on the sizes of clusters."""
