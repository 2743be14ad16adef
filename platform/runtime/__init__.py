"""How parts are placed and joined."""
