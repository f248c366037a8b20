"""The transport, and a client for each of the three APIs."""
