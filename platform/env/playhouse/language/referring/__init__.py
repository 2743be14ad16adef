"""Generation of referring expressions: nouns, post-modifiers, and the styles of combining both."""
