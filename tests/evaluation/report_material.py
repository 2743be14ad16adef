"""Results of small invented runs, to make reports of."""

from __future__ import annotations

import math

import numpy as np

from interplay.evaluation.report_data import (
    AnswerCounts,
    ChanceLevel,
    Filmstrip,
    KindTraining,
    MetricCurve,
    PairedOutcomes,
    ProbeResults,
    ReportData,
    RewardModelResults,
    RewardPoint,
    ScenarioResults,
    StageRecord,
    StageThroughput,
    UtilityTrace,
)


def picture(level: int) -> np.ndarray:
    return np.full((4, 6, 3), level, np.uint8)


def probes(bc: float, rl: float, n: int = 100) -> ProbeResults:
    """Both agents on Go and Lift; each succeeds at step 3 in its share of the episodes."""
    order = (np.arange(n) * 37 % n + 0.5) / n

    def steps(share: float) -> np.ndarray:
        return np.where(order < share, 3.0, np.nan)

    played = {"BC": bc, "BC+RL": rl}
    return ProbeResults(
        {agent: {"go": steps(share), "lift": steps(share)} for agent, share in played.items()},
        steps=10,
        seconds_per_step=0.5,
        chance={"go": ChanceLevel(0.05, 0.1)},
        pairs={
            agent: {task: PairedOutcomes(np.isfinite(steps(share)), np.zeros(n, bool)) for task in ("go", "lift")}
            for agent, share in played.items()
        },
        answers={"BC": {"exist": AnswerCounts(5, 3, 2, {"yes": (4, 5), "no": (1, 5)})}},
    )


def reward_model() -> RewardModelResults:
    returns = np.linspace(-1, 1, 20)
    return RewardModelResults(np.full(20, 8), np.full(20, 10), returns, returns > 0, 0.9 * returns - 0.5)


def material() -> ReportData:
    return ReportData(
        title="A <run> & more",
        stages=[StageRecord("collect", 65.0, {"episodes": 600, "share": 0.5})],
        seeds={"run": 7},
        settings={"clone": '{"size": "<nano>"}'},
        versions={"torch": "2"},
        machine={"cores": "2"},
        filmstrips=[Filmstrip("Solved", "lift the <b>ball</b>", "at 2 s", [picture(9), picture(99)], ["0 s", "2 s"])],
        traces=[
            UtilityTrace(
                "One", "go", np.array([0, 1, 0.5]), 0.5, [(1, 1), (2, -1)], [(1, "it is red")], [(0, picture(1))]
            )
        ],
        answer_rewards={"correct": [0.9, 1.1], "plausible": [-0.4, -0.6], "incoherent": [-1.0, -1.2]},
        reward_points=[
            RewardPoint(0, np.array([0.0, 0.1]), np.array([0.0, 0.1])),
            RewardPoint(50, np.array([1.0, 1.1]), np.array([1.0, 1.1])),
        ],
        kinds=[KindTraining("count", 1234, (0.25, 0.5), (1.0, 0.75), (-0.1, math.nan))],
        probes=probes(0.4, 0.8),
        measures={"BC": {"row": {"f1": {"end": 0.25, "low": 0.1, "high": 0.4, "n": 50, "best": 0.5}}}},
        scenarios=ScenarioResults(
            {agent: {"go-0": np.array([2.0, np.nan]), "lift-0": np.array([3.0, 4.0])} for agent in ("BC", "BC+RL")},
            kinds={"go-0": "go", "lift-0": "lift"},
            instructions={"go-0": "go to the <i>cup</i>", "lift-0": "lift it"},
            steps=10,
            seconds_per_step=0.5,
        ),
        reward_model=reward_model(),
        throughput=[StageThroughput("reinforce", 812.0)],
        curves={"clone": {"loss/movement": MetricCurve(np.arange(3.0), np.array([3.0, 2.0, math.nan]))}},
    )
