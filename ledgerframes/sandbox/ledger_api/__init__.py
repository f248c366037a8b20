"""The ledger API of one participant.

See docs/facts.md#update-pages and docs/facts.md#ledger-operations and docs/facts.md#ledger-errors.
"""
