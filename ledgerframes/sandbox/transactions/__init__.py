"""Transactions of a world.

Read `templates`, `choices` and `kinds`, which say what can happen, then `draft` and `trees`, which make it happen. `roles`
draws who takes part. `payments`, `purchases`, `governance`, `rewards` and `settlements` make the contracts and nodes that
take more than a declaration.
"""
