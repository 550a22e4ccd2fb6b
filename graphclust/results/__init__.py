"""What a clustering hands back: labels and levels, their quality, how sure they are, and their files."""
