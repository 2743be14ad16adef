"""Players without a network: scripted setter and solver, replayed setter; and the scripted rater."""
