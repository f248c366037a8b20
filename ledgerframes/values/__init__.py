"""Exact values: decimals, money, windows of time, and extents of stored rows."""
