"""What a house is: its plan, furniture, objects and settings."""
