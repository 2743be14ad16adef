"""Exports: what people did, as tables for other programs."""
