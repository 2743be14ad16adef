"""Configuration of the runtime: a training stage in one process, or in workers placed by Ray."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

from interplay.core.setting_checks import check_at_least, check_device_name

MOST_SECONDS = 1e9  # of a time limit, 30 years: beyond, timers overflow


@dataclass(frozen=True)
class Resources:
    """Resources that Ray reserves for one worker. They are not enforced: workers on one machine share its cores."""

    cpus: float = 1.0  # of one worker
    gpus: float = 0.0  # a fraction lets several workers share one

    def __post_init__(self) -> None:
        if not self.cpus > 0:
            raise ValueError(f"cpus must be above 0, got {self.cpus:g}; give a small fraction, as 0.1, for almost none")
        if self.gpus < 0:
            raise ValueError(f"gpus must be at least 0, got {self.gpus:g}")


@dataclass(frozen=True)
class ReplicasConfig:
    """Stateless reward replicas, any of which can score any unroll."""

    replicas: int = 1  # processes that score unrolls
    resources: Resources = field(default_factory=lambda: Resources(cpus=0.5))
    retries: int = 3  # of scoring an unroll after a replica died over it
    follow: bool = False  # switch to newer checkpoints of the reward stage while training runs

    def __post_init__(self) -> None:
        check_at_least(1, self, "replicas")
        check_at_least(0, self, "retries")


@dataclass(frozen=True)
class ActorsConfig:
    """How agents that play decide: the device and precision of their networks, in every stage, and where the actors of
    the reinforce stage have them, one network each or one server for all."""

    # A network in each actor, or one server that decides for all of them (Ray only).
    inference: Literal["local", "service"] = "local"
    # Of the server; cpus are also torch's threads; with gpus the network runs there.
    service: Resources = field(default_factory=Resources)
    device: str = "cpu"  # of networks that play in the process of their worlds; auto: a GPU if there is one
    precision: Literal["fp32", "bf16"] = "fp32"  # of all networks that play; heads stay float32

    def __post_init__(self) -> None:
        check_device_name(self.device, "actors.device")
        if self.inference == "local" and self.service != Resources():
            raise ValueError("actors.service has an effect only with actors.inference=service; add that")


@dataclass(frozen=True)
class RuntimeConfig:
    """Placement and limits of the workers. In process, the same classes run inline and deterministically.

    The fields below `overlap` are for Ray only, and refused without it.
    """

    kind: Literal["in_process", "ray"] = "in_process"  # one process, or workers on one or more machines
    threads: int = 1  # of torch in the learner (in process: one with overlap); more than one is slow on busy cores
    # In process: mark recordings while they are cloned, and train baselines at the same time as the stages, in another
    # process, where cores and memory suffice.
    concurrent_work: bool = True
    # In process, with overlap: play and score in a second process instead of a thread, with the same results. It starts
    # in seconds, and the stage is faster where two cores are free.
    actor_process: bool = False
    overlap: bool = True  # in process: play the next unroll during learning; the policy lag is exactly one

    address: str | None = None  # of a running cluster, or "auto"; none: a cluster is started for this run
    cpus: int | None = None  # of the cluster started here; none: as many as requested or available, whichever is more
    object_store_mb: int | None = None  # of the cluster started here; none: Ray decides
    start_limit: float = 120.0  # seconds until the cluster has answered and every worker has its resources
    strategy: Literal["PACK", "SPREAD"] = "PACK"  # of the workers: on few nodes, or over many
    learners: int = 1  # ranks that share the lanes of every batch; each is a process with the resources `learner`
    actors: int = 2  # processes that play
    unrolls_per_batch: int | None = None  # each with lanes/unrolls_per_batch lanes; none: as many as actors
    in_flight: int = 2  # unrolls requested from an actor at once: one in progress, one queued
    max_lag: int = 4  # updates between the weights that acted and those that learn; 0: lockstep, reproducible
    datasets: int = 1  # processes that read demonstrations and share their lanes
    # Batches of each kind: one in use, one being filled; more even out varying durations. Of demonstrations there is at
    # least one more than `reinforce.updates_per_batch`.
    num_buffers: int = 2
    restarts: int = 5  # of a worker, before the run is given up
    # Seconds after which a restart no longer counts, if the worker has produced something.
    restart_window: float = 3600.0
    control_limit: float = 10.0  # seconds for a process to answer a status request; one that hangs never does
    stall_limit: float = 600.0  # seconds that a worker may be busy with one activity
    learner: Resources = field(default_factory=Resources)
    actor: Resources = field(default_factory=Resources)
    dataset: Resources = field(default_factory=lambda: Resources(cpus=0.5))
    reward: ReplicasConfig = field(default_factory=ReplicasConfig)

    def __post_init__(self) -> None:
        check_at_least(1, self, "threads", "learners", "actors", "in_flight", "datasets", group="runtime.")
        check_at_least(0, self, "max_lag", "restarts", group="runtime.")
        for name in ("start_limit", "restart_window", "control_limit", "stall_limit"):
            if not 0 < (seconds := getattr(self, name)) <= MOST_SECONDS:
                raise ValueError(
                    f"runtime.{name} must be above 0 and at most {MOST_SECONDS:,.0f} seconds, got {seconds:g}"
                )
        for name in ("actor", "dataset"):
            if gpus := getattr(self, name).gpus:
                raise ValueError(f"runtime.{name}.gpus must be 0, because these workers use the CPU; got {gpus:g}")
        if self.learners > 1 and self.learner.gpus % 1:
            raise ValueError(
                f"runtime.learner.gpus={self.learner.gpus:g}: the ranks of "
                f"runtime.learners={self.learners} can't share a GPU; set runtime.learner.gpus=1, or 0 on the CPU"
            )
        if self.num_buffers < 2:
            raise ValueError(
                f"runtime.num_buffers must be at least 2, one in use and one being filled; got {self.num_buffers}"
            )
        if self.unrolls_per_batch is not None:
            check_at_least(1, self, "unrolls_per_batch", group="runtime.")
        if self.kind == "in_process":
            self._refuse_what_ray_needs()
            return
        if not self.overlap:
            raise ValueError(
                "runtime.overlap=false, typed or of the experiment, needs runtime=in_process; under Ray, type "
                "runtime.overlap=true runtime.max_lag=0"
            )
        if self.address is not None and (self.cpus, self.object_store_mb) != (None, None):
            raise ValueError(
                f"runtime.cpus and runtime.object_store_mb apply to a cluster that the run starts; the cluster at "
                f"runtime.address={self.address} is running already: leave them out"
            )
        if self.max_lag == 0 and self.unrolls_in_batch > self.actors * self.in_flight:
            needed = -(-self.unrolls_in_batch // self.actors)
            raise ValueError(
                f"runtime.max_lag=0 is reproducible where all {self.unrolls_in_batch} unrolls of a batch are requested "
                f"at once; {self.actors} actors take {self.actors * self.in_flight}: set runtime.in_flight={needed}"
            )

    @property
    def learner_threads(self) -> int:
        """Threads of torch in a process that runs stages: one with overlap, where acting and learning run at the same
        time, on one thread each, and more threads slow both down."""
        return 1 if self.overlap else self.threads

    @property
    def result_limit(self) -> float:
        """Seconds in which a process has started and returned its first result."""
        return self.start_limit + self.stall_limit

    def limit_text(self, *, starts: bool) -> str:
        """The settings behind `result_limit`, or, of a process that has started, behind `stall_limit`, as typed."""
        stall = f"runtime.stall_limit={self.stall_limit:g}"
        return f"runtime.start_limit={self.start_limit:g} plus {stall}, which includes its start" if starts else stall

    @property
    def unrolls_in_batch(self) -> int:
        """How many unrolls make up one batch, with the default resolved."""
        return self.actors if self.unrolls_per_batch is None else self.unrolls_per_batch

    def _refuse_what_ray_needs(self) -> None:
        names = [each.name for each in fields(self)]
        defaults = {
            each.name: each.default_factory() if callable(each.default_factory) else each.default
            for each in fields(self)[names.index("overlap") + 1 :]
        }
        changed = [name for name, default in defaults.items() if getattr(self, name) != default]
        if changed:
            raise ValueError(
                f"{', '.join(f'runtime.{name}' for name in changed)}: of use under Ray only; add runtime=ray"
            )
