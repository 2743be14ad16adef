"""Tasks of the Playhouse: instructions and questions, with their samplers, success tests and progress."""
