"""Requests of a setter: cues that say what to ask for, and modifiers that restrict its words."""
