"""What a setter is told to ask for: cues and modifiers."""
