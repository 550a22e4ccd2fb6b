"""A clustering after edits of its graph."""
