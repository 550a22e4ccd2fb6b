"""What a partition is judged by."""
