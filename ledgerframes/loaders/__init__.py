"""Loaders: plan, fetch, decode, store, and answer with Frames."""
