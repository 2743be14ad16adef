"""Where the parts of a training stage run: all in one process, or placed by Ray."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal


@dataclass(frozen=True)
class Resources:
    """What Ray sets aside for one part. They are accounts, not walls: on one machine parts share its cores."""

    cpus: float = 1.0
    gpus: float = 0.0  # a fraction lets several parts share one

    def __post_init__(self) -> None:
        if not self.cpus > 0:
            raise ValueError(f"cpus is above 0, got {self.cpus:g}; a small fraction, as 0.1, is as good as none")
        if self.gpus < 0:
            raise ValueError(f"gpus is at least 0, got {self.gpus:g}")


@dataclass(frozen=True)
class ReplicasConfig:
    """The reward service: stateless replicas, any of which can score any unroll."""

    replicas: int = 1
    resources: Resources = field(default_factory=lambda: Resources(cpus=0.5))
    retries: int = 3  # how often an unroll is asked again where a replica died over it
    follow: bool = False  # take up newer checkpoints of the reward stage while training runs

    def __post_init__(self) -> None:
        if self.replicas < 1:
            raise ValueError(f"replicas is at least 1, got {self.replicas}")
        if self.retries < 0:
            raise ValueError(f"retries is at least 0, got {self.retries}")


@dataclass(frozen=True)
class ActorsConfig:
    """Who decides for the setter-replay actors of the reinforce stage: each its own network, or one for all."""

    inference: Literal["local", "service"] = "local"
    service: Resources = field(default_factory=Resources)  # its cpus are also torch's threads; gpus: it decides there

    def __post_init__(self) -> None:
        if self.inference == "local" and self.service != Resources():
            raise ValueError("actors.service: of use with actors.inference=service only; add that")


@dataclass(frozen=True)
class RuntimeConfig:
    """How parts are placed. In process: the same classes, inline, deterministic. What Ray alone needs stands below
    `overlap`, and is refused without it."""

    kind: Literal["in_process", "ray"] = "in_process"
    threads: int = 1  # torch's own, of the learner; in process, without overlap; two crawl where others want the cores
    overlap: bool = True  # in process: play the next unroll while the learner learns; policy lag exactly one

    address: str | None = None  # of a running cluster, or "auto"; none: one is started here, for this run
    cpus: int | None = None  # of the cluster started here; none: as many as its parts ask for, or there are
    object_store_mb: int | None = None  # of the cluster started here; none: Ray decides
    start_limit: float = 120.0  # seconds until the cluster has answered and every part has its place
    strategy: Literal["PACK", "SPREAD"] = "PACK"  # of the parts over the nodes: few of them, or many
    learners: int = 1  # ranks that share the lanes of every batch; each is a process with `learner` resources
    actors: int = 2  # that play; each is a process
    unrolls_per_batch: int | None = (
        None  # unrolls side by side in one batch, of lanes/joined lanes each; none: as many as actors
    )
    in_flight: int = 2  # calls to an actor that has not answered: one under way, one waiting
    max_lag: int = 4  # updates between the weights that acted and those that learn; 0: in lockstep, reproducible
    datasets: int = 1  # that read demonstrations; they share its lanes
    num_buffers: int = (
        2  # batches of each kind: one in use, one filled meanwhile; more even out what takes unequally long
    )
    restarts: int = 5  # of a part, before the run is given up
    restart_window: float = 3600.0  # seconds after which a restart no longer counts, if something has come of it
    control_limit: float = 10.0  # seconds for a process to answer a status request; one that hangs never does
    stall_limit: float = 600.0  # seconds that a part may be busy with one thing
    learner: Resources = field(default_factory=Resources)
    actor: Resources = field(default_factory=Resources)
    dataset: Resources = field(default_factory=lambda: Resources(cpus=0.5))
    reward: ReplicasConfig = field(default_factory=ReplicasConfig)

    def __post_init__(self) -> None:
        for name in ("threads", "learners", "actors", "in_flight", "datasets"):
            if getattr(self, name) < 1:
                raise ValueError(f"runtime.{name} is at least 1, got {getattr(self, name)}")
        for name in ("max_lag", "restarts"):
            if getattr(self, name) < 0:
                raise ValueError(f"runtime.{name} is at least 0, got {getattr(self, name)}")
        for name in ("start_limit", "restart_window", "control_limit", "stall_limit"):
            if not getattr(self, name) > 0:
                raise ValueError(f"runtime.{name} is above 0 seconds, got {getattr(self, name):g}")
        for name in ("actor", "dataset"):
            if getattr(self, name).gpus:
                raise ValueError(f"runtime.{name}.gpus is 0: it works on the CPU, got {getattr(self, name).gpus:g}")
        if self.learners > 1 and self.learner.gpus % 1:
            raise ValueError(
                f"runtime.learner.gpus={self.learner.gpus:g}: no two of runtime.learners={self.learners} can share a "
                "GPU; set runtime.learner.gpus=1, or 0 on the CPU"
            )
        if self.num_buffers < 2:
            raise ValueError(
                f"runtime.num_buffers is at least 2, one in use and one being filled; got {self.num_buffers}"
            )
        if self.unrolls_per_batch is not None and self.unrolls_per_batch < 1:
            raise ValueError(f"runtime.unrolls_per_batch is at least 1, got {self.unrolls_per_batch}")
        if self.kind == "in_process":
            self._refuse_what_ray_needs()
            return
        if not self.overlap:
            raise ValueError("runtime.overlap=false is of runtime=in_process; under Ray, set runtime.max_lag=0")
        if self.address is not None and (self.cpus, self.object_store_mb) != (None, None):
            raise ValueError(
                f"runtime.cpus and runtime.object_store_mb are of a cluster started here; the one at runtime.address="
                f"{self.address} has what it was started with: leave them out"
            )
        if self.max_lag == 0 and self.unrolls_in_batch > self.actors * self.in_flight:
            needed = -(-self.unrolls_in_batch // self.actors)
            raise ValueError(
                f"runtime.max_lag=0 is reproducible where all {self.unrolls_in_batch} unrolls of a batch are requested "
                f"at once; {self.actors} actors take {self.actors * self.in_flight}: set runtime.in_flight={needed}"
            )

    @property
    def result_limit(self) -> float:
        """Seconds in which whatever starts has started and done its first piece of work."""
        return self.start_limit + self.stall_limit

    @property
    def unrolls_in_batch(self) -> int:
        """How many unrolls make up one batch."""
        return self.actors if self.unrolls_per_batch is None else self.unrolls_per_batch

    def _refuse_what_ray_needs(self) -> None:
        names = [each.name for each in fields(self)]
        default = object.__new__(RuntimeConfig)  # not made by __init__, which would ask for its own defaults again
        for each in fields(self):
            value = each.default_factory() if callable(each.default_factory) else each.default
            object.__setattr__(default, each.name, value)
        others = names[names.index("overlap") + 1 :]
        changed = [name for name in others if getattr(self, name) != getattr(default, name)]
        if changed:
            raise ValueError(
                f"{', '.join(f'runtime.{name}' for name in changed)}: of use under Ray only; add runtime=ray"
            )
