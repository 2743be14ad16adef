"""Contents of John's and of Mary's basket, and the properties of each object: the facts of the memory tasks."""

from __future__ import annotations

# Most objects are in both baskets. Every property of Mary's key is also one of John's; the two lamps have no property
# in common, the two clocks all.
global_properties: dict[str, dict[str, list[str]]] = {
    "john": {
        "anchor": ["heavy", "rusty", "iron", "large"],
        "bell": ["brass", "loud", "shiny", "small", "hollow"],
        "clock": ["round", "loud", "wooden"],
        "coat": ["woolen", "warm", "gray", "long", "worn"],
        "drum": ["round", "loud", "hollow", "red", "leather"],
        "key": ["iron", "small", "rusty", "thin"],
        "kite": ["paper", "red", "light", "torn"],
        "lamp": ["brass", "bright", "tall"],
        "rope": ["long", "thick", "rough", "wet", "strong", "gray"],
        "spoon": ["wooden", "small", "smooth", "clean"],
        "umbrella": ["black", "wet", "broken"],
    },
    "mary": {
        "bell": ["silver", "small", "shiny", "quiet"],
        "clock": ["loud", "wooden", "round"],
        "coat": ["leather", "black", "short", "warm", "clean"],
        "drum": ["wooden", "round", "hollow", "blue", "large", "worn"],
        "feather": ["white", "light", "soft", "clean"],
        "key": ["small", "rusty"],
        "kite": ["silk", "blue", "light", "striped"],
        "lamp": ["paper", "dim", "small"],
        "mirror": ["round", "clean", "bright", "fragile", "silver"],
        "rope": ["short", "thin", "rough", "dry", "white"],
        "spoon": ["silver", "small", "shiny", "fragile"],
    },
}
reverse_global_properties: dict[str, dict[str, list[str]]] = {
    basket: {
        property_: [name for name, found in things.items() if property_ in found]
        for property_ in sorted({property_ for found in things.values() for property_ in found})
    }
    for basket, things in global_properties.items()
}
all_objects = sorted({name for things in global_properties.values() for name in things})
all_properties = sorted({property_ for found in reverse_global_properties.values() for property_ in found})
shared_objects = [name for name in all_objects if all(name in things for things in global_properties.values())]
