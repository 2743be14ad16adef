"""CommAI: a scripted teacher and a learner that exchange one token at a time, as a library and as a world."""
