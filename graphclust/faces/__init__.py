"""Ways in for people: the command line, the demo, descriptions of files."""
