"""Settings as they are typed in a shell, for messages that say what to type."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

RUNS = "runs"  # the default of run.dir


def typed_name(root: Path) -> str:
    """The settings that name the run in the folder `root`, as they are typed in a shell."""
    folder = "" if root.parent.resolve() == Path(RUNS).resolve() else f" {typed_setting('run.dir', str(root.parent))}"
    return f"{typed_setting('run.name', root.name)}{folder}"


def setting_of(word: str) -> str:
    """The name of the setting in a typed word, KEY=VALUE, perhaps with + in front."""
    return word.lstrip("+").partition("=")[0]


def typed_setting(key: str, text: str) -> str:
    """A setting of a text: double quotes enclose what the syntax of settings would not read as text, and single quotes
    what the shell would change."""
    if not re.fullmatch(r"[A-Za-z0-9_./@%+: -]*", text) or text != text.strip() or text == "null":
        escaped = re.sub(r'(\\*)("|\Z)', lambda found: 2 * found[1] + (found[2] and '\\"'), text)
        text = f'"{escaped}"'
    return f"{key}={shlex.quote(text)}"
