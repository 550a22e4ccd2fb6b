"""Graph files in and out: one module a format, `load` chooses among them by what the file holds."""
