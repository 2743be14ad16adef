"""Questions about the house: one module for each subject, with right and plausible wrong answers."""
