"""What `interplay` answers without running a verb: help, its version, and the refusal of an unknown verb.

Networks and worlds are not imported for it.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from interplay.core.renamed_settings import new_value
from interplay.core.settings_validation import did_you_mean
from interplay.launch.safe_stdio import outlive_readers
from interplay.launch.verbs import SWEEP, SWEPT, VERBS, VerbHelp

HELP = ("-h", "--help", "help")
TAKES = {"": "", "episode": "[EPISODE] ", "round": "NUMBER ", "corpus": "NAME FOLDER ", "person": "PERSON ",
         "setting": "[NAME] ", "export": "[minari DATASET] "}  # fmt: skip
KNOWN: Mapping[str, VerbHelp] = {**VERBS, "sweep": SWEEP}


def answer(typed: Sequence[str]) -> int | None:
    """Prints the requested help or version, or that the verb does not exist; returns the exit code.

    Returns None without printing if a verb is to run.
    """
    name = typed[0] if typed else "help"
    if name in HELP:
        name = typed[1] if len(typed) > 1 else ""
    elif name in KNOWN and not {"-h", "--help"} & set(typed):
        return None
    outlive_readers()
    if name == "--version":
        sys.stdout.write(f"interplay {version('interplay')}\n")
    elif not name:
        sys.stdout.write(usage())
    elif name in KNOWN:
        sys.stdout.write(usage_of(name))
    else:
        sys.stderr.write(_unknown(name, typed))
        return 2
    return 0


def usage() -> str:
    """The list of verbs."""
    lines = ["usage: interplay VERB [KEY=VALUE ...]\n\n"]
    lines += [f"  {name:<14} {verb.does}\n" for name, verb in KNOWN.items()]
    return "".join(lines) + (
        "\nSettings: run.name=mine run.seed=2, env=gymnasium env.id=BabyAI-GoToLocal-v0, agent=5m, experiment=demo;\n"
        "print-config shows them all, explain says what they mean. A stage that was stopped continues when its\n"
        "command is typed again. interplay VERB --help describes a verb, interplay --version prints the version.\n"
    )


def usage_of(name: str) -> str:
    """The help of a verb."""
    verb = KNOWN[name]
    word = TAKES[VERBS[name].takes] if name in VERBS else "VERB "
    values = "KEY=VALUE[,VALUE ...] ..." if name not in VERBS else "[KEY=VALUE ...]"
    rows = {"reads": verb.reads, "writes": verb.writes, "example": f"interplay {name} {verb.example}"}
    lines = [f"usage: interplay {name} {word}{values}\n\n{verb.does}\n\n"]
    lines += [f"  {label:<9} {text}\n" for label, text in rows.items() if text]
    if verb.sections:
        lines.append(f"\nIts settings are in: {', '.join(verb.sections)}.\n")
        lines.append(
            f"interplay explain {verb.sections[0]} lists those of {verb.sections[0]}, with values and meanings.\n"
        )
    if name not in VERBS:
        return "".join([*lines, f"\nVERB is one of: {', '.join(SWEPT)}.\n"])
    if not (verb.reads or verb.writes):
        return "".join(lines)
    return "".join(lines) + (
        "\nPaths are relative to the folder of the run, run.dir/run.name: runs/run by default, runs/demo with\n"
        "experiment=demo. A run does not remember its settings: repeat experiment=, env=, agent= and all others with\n"
        "each verb, or type run.settings=recorded for those of its last command.\n"
    )


def _unknown(name: str, typed: Sequence[str]) -> str:
    if (new := new_value("verb", name)) is not None:
        return f"interplay: the verb {name!r} is now called {new!r}; type: interplay {new}\n"
    if "=" in name:
        verb = next((word for word in typed if word in KNOWN), "VERB")
        settings = shlex.join(sorted((word for word in typed if word != verb), key=lambda word: "=" in word))
        return f"interplay: the verb comes before the settings; type: interplay {verb} {settings}\n"
    known = did_you_mean(name.lower(), list(KNOWN))
    return f"interplay: there is no verb {name!r}.{known} interplay --help says what each does\n"
