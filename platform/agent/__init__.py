"""The network and its policies: encoder, transformer, memory, heads, sizes."""
