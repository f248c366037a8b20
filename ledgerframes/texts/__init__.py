"""Counts and facts as text and HTML, without control characters or tokens."""
