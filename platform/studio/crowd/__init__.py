"""Synthetic people: programs that enter by an invitation, play and mark over the studio's own protocol."""
