"""Coin of parties as the network sums it."""
