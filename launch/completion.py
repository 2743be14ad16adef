"""Completion of verbs and of names of settings in bash: `eval "$(interplay completion)"`."""

from __future__ import annotations

import sys

from interplay.launch.compose import GROUPS
from interplay.launch.explain_settings import settings_of
from interplay.launch.usage import KNOWN
from interplay.launch.verbs import SWEPT
from interplay.stages.config import Config

# Verbs end with a space and settings with =, so `nospace` adds none. After = bash begins a word, and completes files.
SCRIPT = """\
_interplay() {{
    local IFS=$'\\n' word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -S ' ' -W '{verbs}' -- "$word"))
    elif ((COMP_CWORD == 2)) && [[ $before == sweep ]]; then
        COMPREPLY=($(compgen -S ' ' -W '{swept}' -- "$word"))
    elif [[ $word != = && $before != = ]]; then
        COMPREPLY=($(compgen -S = -W '{settings}' -- "$word"))
    fi
}}
complete -o nospace -o bashdefault -o default -F _interplay interplay
"""


def completion(config: Config) -> int:
    """Prints the script; the settings of the world are those of `env`."""
    words = {
        "verbs": [*KNOWN, "help"],
        "swept": SWEPT,
        "settings": [*GROUPS, *(each.key for each in settings_of(config) if not each.is_section)],
    }
    sys.stdout.write(SCRIPT.format(**{name: "\n".join(each) for name, each in words.items()}))
    return 0
