"""Plans: a target cut into chunks, their wording, and reading the words back."""
