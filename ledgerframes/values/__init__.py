"""Exact values, which are decimals, money, windows of time, and extents of rows."""
