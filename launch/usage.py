"""What `interplay` answers without running a verb: help, and the refusal of an unknown verb.

Networks and worlds are not imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from interplay.core.renamed_settings import new_value
from interplay.core.settings_validation import did_you_mean
from interplay.launch.safe_stdio import outlive_readers
from interplay.launch.verbs import VERBS

SWEEP = "sweep"  # runs another verb, so it is not one of VERBS
HELP = ("-h", "--help")


def answer(typed: Sequence[str]) -> int | None:
    """Prints the help that is asked for, or that the verb does not exist, and returns the exit code.

    None if a verb is to be run.
    """
    name = typed[0] if typed else "help"
    if name in (*HELP, "help") or set(HELP) & set(typed):
        outlive_readers()
        sys.stdout.write(usage())
        return 0
    if name in VERBS or name == SWEEP:
        return None
    outlive_readers()
    if (new := new_value("verb", name)) is not None:
        sys.stderr.write(f"interplay: the verb {name!r} is now called {new!r}; type: interplay {new}\n")
    else:
        known = did_you_mean(name, [*VERBS, SWEEP])
        sys.stderr.write(f"interplay: there is no verb {name!r}.{known}\n\n{usage()}")
    return 2


def usage() -> str:
    """The list of verbs."""
    lines = ["usage: interplay VERB [KEY=VALUE ...]\n\n"]
    lines += [f"  {name:<14} {verb.does}\n" for name, verb in VERBS.items()]
    lines.append(f"  {SWEEP:<14} a verb over several values: interplay sweep demo run.seed=1,2\n")
    return "".join(lines) + (
        "\nSettings: run.name=mine run.seed=2, env=gymnasium env.id=BabyAI-GoToLocal-v0, agent=5m, experiment=demo;\n"
        "print-config shows them all, explain says what they mean. A stage that was stopped continues when its\n"
        "command is typed again.\n"
    )
