"""The tasks that ship, by the names that the users of CommAI-env know."""
