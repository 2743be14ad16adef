"""The settings of a stage, by the name of its folder."""


def settings_group(stage: str) -> str:
    """The name of the group that holds a stage's settings. Both clone stages share one."""
    return "clone" if stage == "clone-setter" else stage.replace("-", "_")
