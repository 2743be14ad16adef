"""State that the people of a crowd share."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from interplay.stages.run import Run
from interplay.stages.studio_config import CrowdConfig
from interplay.studio.crowd.crowd_report import CrowdReport
from interplay.studio.crowd.crowd_truth import CrowdTruth
from interplay.studio.crowd.synthetic_players import OpenRequests


@dataclass(frozen=True)
class CrowdShared:
    """The run with its settings, those of the crowd, the true tasks, the report, and the sign to stop."""

    run: Run
    config: CrowdConfig
    truth: CrowdTruth
    report: CrowdReport
    stop: threading.Event = field(default_factory=threading.Event)
    requests: OpenRequests = field(default_factory=dict)
