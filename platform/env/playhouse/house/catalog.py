"""All categories by name, with the colors and sizes of things."""

from __future__ import annotations

from interplay.env.playhouse.house.category import RGB, Category
from interplay.env.playhouse.house.furniture import FURNITURE
from interplay.env.playhouse.house.objects import OBJECTS

COLORS: dict[str, RGB] = {
    "red": (0.90, 0.08, 0.08),
    "orange": (1.00, 0.50, 0.02),
    "yellow": (1.00, 0.90, 0.05),
    "green": (0.10, 0.70, 0.15),
    "cyan": (0.05, 0.85, 0.90),
    "blue": (0.10, 0.20, 0.95),
    "purple": (0.55, 0.10, 0.80),
    "pink": (1.00, 0.45, 0.75),
    "white": (0.97, 0.97, 0.97),
    "brown": (0.42, 0.22, 0.08),
}

SIZES: dict[str, float] = {"small": 0.75, "medium": 1.0, "large": 1.3}

BIN = "bin"  # the one hollow container, into which objects fit

CATEGORIES: dict[str, Category] = {category.name: category for category in (*FURNITURE, *OBJECTS)}
