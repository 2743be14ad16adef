"""How things and tasks are put into words."""
