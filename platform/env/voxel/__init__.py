"""World of colored blocks: a setter says what to build, a solver builds it."""
