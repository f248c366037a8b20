"""Loaders: each plans, fetches and commits what the store does not cover, then returns Frames."""
