"""Transactions of a world, declared in network.txt and interpreted here.

Read network.txt, then `draft` and `kinds` (the interpreter); `roles`, `payments`, `purchases`, `governance`, `rewards`
and `rights` contain the functions that declarations name.
"""
