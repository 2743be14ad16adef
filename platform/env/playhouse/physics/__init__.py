"""The MuJoCo simulation of a house: bodies, hands, contacts, saved states."""
