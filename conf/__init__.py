"""Hydra configuration groups; they mirror the package folders."""
