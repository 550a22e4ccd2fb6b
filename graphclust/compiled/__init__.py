"""Loops over arrays, compiled by numba where that pays. Only they import numba, and nothing of ours."""
