"""Intervals, usual ranges, comparisons, concentration and runways, for the analyses.

The functions know nothing of frames: they take counts, costs and latencies, and return figures with intervals, or say why there
is none. No result depends on the order of rows or on a random number. Intervals are two-sided at 95 %.
"""
