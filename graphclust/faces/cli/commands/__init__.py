"""The commands of the command line, one a file: each adds its options to the parser, and runs."""
