"""How people refer to things: nouns, what follows them, and the manners of choosing both."""
