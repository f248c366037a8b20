"""Transactions of a world, declared in network.txt and interpreted here.

Read network.txt, then `draft` and `kinds` (the interpreter); `payments`, `purchases`, `governance` and `rewards` contain
the functions that declarations name.
"""
