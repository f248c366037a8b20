"""Bulk objects, as structs and as tables."""
