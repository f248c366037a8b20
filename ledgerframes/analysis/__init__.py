"""Analyses: ``Frames`` -> tidy DataFrame, pure. One module per subject."""
