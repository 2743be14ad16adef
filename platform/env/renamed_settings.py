"""Settings that have been renamed: the old name of a field, and what to type instead.

Old names are refused, never accepted, so that a configuration says what it does.
"""

from __future__ import annotations

# Old field name -> new field name. The group is not part of it: no group may reuse an old name for something else.
RENAMED_SETTINGS: dict[str, str] = {
    "colours": "colors",
    "unique_colours": "unique_colors",
}
