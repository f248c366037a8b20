"""Loaders, which fetch what the store does not cover and return Frames."""
