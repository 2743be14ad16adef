"""Completion of verbs and of names of settings in bash and zsh: `eval "$(interplay completion)"`."""

from __future__ import annotations

import sys

from interplay.launch.compose import GROUPS
from interplay.launch.explain_settings import settings_of
from interplay.launch.usage import KNOWN
from interplay.launch.verbs import SWEPT
from interplay.stages.config import Config

# In bash, verbs end with a space and settings with =, so `nospace` adds none; after = it begins a word, and completes
# files. In zsh the whole setting is a word.
SCRIPT = """\
_interplay() {{
    local verbs='{verbs}'
    local swept='{swept}'
    local settings='{settings}'
    if [[ -n ${{ZSH_VERSION-}} ]]; then
        if ((CURRENT == 2)); then
            compadd -- ${{=verbs}}
        elif ((CURRENT == 3)) && [[ $words[2] == sweep ]]; then
            compadd -- ${{=swept}}
        elif compset -P '*='; then
            _files
        else
            compadd -S = -- ${{=settings}}
        fi
        return
    fi
    local IFS=$'\n' word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -S ' ' -W "$verbs" -- "$word"))
    elif ((COMP_CWORD == 2)) && [[ $before == sweep ]]; then
        COMPREPLY=($(compgen -S ' ' -W "$swept" -- "$word"))
    elif [[ $word != = && $before != = ]]; then
        COMPREPLY=($(compgen -S = -W "$settings" -- "$word"))
    fi
}}
if [[ -n ${{ZSH_VERSION-}} ]]; then
    typeset -f compdef > /dev/null || {{ autoload -Uz compinit && compinit; }}
    compdef _interplay interplay
else
    complete -o nospace -o bashdefault -o default -F _interplay interplay
fi
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
