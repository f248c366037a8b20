"""Bodies of requests to the ledger API, each as the published description demands it.

How they are checked is in `sandbox/requests.py`; the formats and filters are in `participant/filters.py`.
"""
