"""A clustering as a page for a browser: one file, with its pictures inside and nothing from elsewhere."""
