"""Comments of the fields of a class as their descriptions in the API reference; mkdocs.yml names the extension."""

from __future__ import annotations

from typing import Any

import griffe

from interplay.core.documented_settings import field_comments


class FieldComments(griffe.Extension):
    """Describes each field of a class that has no docstring by its comment."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        for name, comment in field_comments(cls.source).items():
            field = cls.members.get(name)
            if comment and field is not None and field.is_attribute and field.docstring is None:
                field.docstring = griffe.Docstring(comment, parent=field)
