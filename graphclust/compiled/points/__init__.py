"""Loops over points and centroids."""
