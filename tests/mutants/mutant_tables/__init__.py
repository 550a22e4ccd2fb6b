"""Which text of which file becomes which, and which tests should notice; one table a part of the package."""
