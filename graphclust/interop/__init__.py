"""Functions with the names, arguments and results of other libraries' own, one module for each library."""
