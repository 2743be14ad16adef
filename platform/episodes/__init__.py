"""An episode, its marks, the store that keeps them, and the vocabulary drawn from them."""
