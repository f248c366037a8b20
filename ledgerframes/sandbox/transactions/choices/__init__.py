"""Choices of the network, by topic."""
