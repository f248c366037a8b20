"""Coin of parties as the network sums it, and contracts of the token standard."""
