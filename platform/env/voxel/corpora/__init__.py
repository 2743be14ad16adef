"""Readers of public corpora of recorded building dialogues, from local copies."""
