"""The resources of every worker of a run, reserved before anything starts and kept when a worker is restarted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from interplay.runtime.allocator import retention_environment
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.ray.cluster_session import ClusterError

LEARNER = "learner"
RANK = "rank"
INFERENCE = "inference"


@dataclass(frozen=True)
class ResourceRequest:
    """Resources that a worker needs."""

    name: str
    resources: Resources


@dataclass(frozen=True)
class WorkerPlacement:
    """Reserved resources of a run's workers, by name."""

    group: PlacementGroup
    requests: tuple[ResourceRequest, ...]

    def options(self, name: str) -> Mapping[str, Any]:
        """Options of the Ray actor of this name."""
        index = [each.name for each in self.requests].index(name)
        resources = self.requests[index].resources
        strategy = PlacementGroupSchedulingStrategy(
            placement_group=self.group,
            placement_group_bundle_index=index,
            placement_group_capture_child_tasks=False,
        )
        options = {"num_cpus": resources.cpus, "num_gpus": resources.gpus, "scheduling_strategy": strategy}
        if name == LEARNER or name.startswith(RANK):  # they allocate the same memory in each update
            options["runtime_env"] = {"env_vars": dict(retention_environment())}
        return options

    def release(self) -> None:
        """Releases the resources; processes that still use them are killed."""
        remove_placement_group(self.group)


def resource_requests(
    config: RuntimeConfig, *, actors: bool, replicas: bool, datasets: bool, inference: Resources | None = None
) -> tuple[ResourceRequest, ...]:
    """Requests of a stage: learner, further ranks, and the given kinds of workers.

    `inference` is None if actors decide locally.
    """
    kinds = [(LEARNER, config.learner)]
    kinds += [(f"{RANK}-{rank}", config.learner) for rank in range(1, config.learners)]
    kinds += [(f"dataset-{index}", config.dataset) for index in range(config.datasets) if datasets]
    kinds += [(f"actor-{index}", config.actor) for index in range(config.actors) if actors]
    kinds += [(f"reward-{index}", config.reward.resources) for index in range(config.reward.replicas) if replicas]
    kinds += [(INFERENCE, inference)] if inference is not None else []
    return tuple(ResourceRequest(name, resources) for name, resources in kinds)


def reserve_resources(requests: Sequence[ResourceRequest], config: RuntimeConfig) -> WorkerPlacement:
    """Reserves the resources of every worker.

    Raises:
        ClusterError: the cluster has no room for all of them within the time limit.
    """
    bundles = []
    for each in requests:
        bundle = {"CPU": each.resources.cpus}
        if each.resources.gpus:
            bundle["GPU"] = each.resources.gpus
        bundles.append(bundle)
    group = placement_group(bundles, strategy=config.strategy)
    if not group.wait(timeout_seconds=config.start_limit):
        remove_placement_group(group)
        raise ClusterError(_no_room(requests, config))
    return WorkerPlacement(group, tuple(requests))


def _no_room(requests: Sequence[ResourceRequest], config: RuntimeConfig) -> str:
    workers = ", ".join(f"{each.name} {_amounts(each.resources.cpus, each.resources.gpus)}" for each in requests)
    untyped: Any = ray
    has, free = untyped.cluster_resources(), untyped.available_resources()
    total = _amounts(sum(each.resources.cpus for each in requests), sum(each.resources.gpus for each in requests))
    return (
        f"no room for all workers within runtime.start_limit={config.start_limit:g} seconds. They need {total} "
        f"({workers}); the cluster has {_amounts(has.get('CPU', 0), has.get('GPU', 0))}, of which "
        f"{_amounts(free.get('CPU', 0), free.get('GPU', 0))} are free. Lower runtime.actors, or a worker's resources, "
        "as runtime.actor.cpus=0.5, or give the cluster more"
    )


def _amounts(cpus: float, gpus: float) -> str:
    return f"{cpus:g} CPUs" + (f" and {gpus:g} GPUs" if gpus else "")
