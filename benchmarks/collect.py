"""How much faster episodes are recorded by more processes, on one machine.

    python benchmarks/collect.py                       # 1 process, then 2, in turns
    python benchmarks/collect.py --workers 1 4 16 --episodes 64
    python benchmarks/collect.py --json collect.json

Every run records the same dialogues in furnished houses with a scripted solver. The rate is that between the first
episodes, which wait for the processes to start, and the last; it is of wall time, so other work on the machine counts.
The same number of separate runs side by side, which share nothing, shows what the cores allow at that time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reporting.json_numbers import add_json_option, write_json

from interplay.launch.compose import compose
from interplay.stages.collect_stage import collect
from interplay.stages.run import open_run


def rate(workers: int, options: argparse.Namespace) -> tuple[float, float]:
    """Episodes a second with this number of processes, and the CPU milliseconds that this process spends on one."""
    with tempfile.TemporaryDirectory() as folder:
        settings = ["experiment=house", f"run.dir={folder}", "tracking.wandb=disabled", "collect.heldout=0"]
        sizes = [f"collect.episodes={options.episodes}", f"collect.steps={options.steps}"]
        run = open_run(compose([*settings, *sizes, f"collect.workers={workers}"]))
        cpu = time.process_time()
        collect(run, run.config.collect)
        cpu = time.process_time() - cpu
        stored = sorted(path.stat().st_mtime for path in Path(folder).rglob("*.npz"))
    # Results are stored in order, so the last of the first round marks the start of the steady part.
    return (len(stored) - workers) / (stored[-1] - stored[workers - 1]), 1e3 * cpu / len(stored)


def separate_rate(runs: int, options: argparse.Namespace) -> float:
    """Episodes a second of as many runs side by side, each with one process."""
    sizes = ["--episodes", str(options.episodes // runs), "--steps", str(options.steps)]
    command = [sys.executable, __file__, "--workers", "1", "--turns", "1", *sizes, "--no-separate", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.json") for number in range(runs)]
        started = [subprocess.Popen([*command, str(file)], stdout=subprocess.DEVNULL) for file in files]
        for process in started:
            if process.wait(timeout=3600.0):
                raise RuntimeError(f"a separate run ended with status {process.returncode}")
        return sum(float(json.loads(file.read_text())["rates"]["1"][0]) for file in files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--episodes", type=int, default=24)
    parser.add_argument("--steps", type=int, default=300, help="of an episode")
    parser.add_argument("--turns", type=int, default=2, help="of the numbers of processes; the best rate counts")
    add_json_option(parser)
    parser.add_argument("--no-separate", action="store_true", help="leave out the separate runs")
    options = parser.parse_args()
    rates: dict[int, list[float]] = {workers: [] for workers in options.workers}
    separate: dict[int, list[float]] = {workers: [] for workers in options.workers if workers > 1}
    for _ in range(options.turns):
        for workers in options.workers:
            found, storing = rate(workers, options)
            rates[workers].append(found)
            print(f"{workers:3} processes: {found:.3f} episodes/s; {storing:.0f} ms of CPU to store one", flush=True)
        for runs in () if options.no_separate else separate:
            separate[runs].append(separate_rate(runs, options))
            print(f"{runs:3} separate runs: {separate[runs][-1]:.3f} episodes/s", flush=True)
    best = {workers: max(found) for workers, found in rates.items()}
    few = min(best)
    for workers, found in best.items():
        print(f"{workers:3} processes: {found:.3f} episodes/s, {found / best[few]:.2f} times those of {few}", end="")
        print(f"; {found / max(separate[workers]):.2f} of separate runs" if separate.get(workers) else "")
    write_json(
        options.json, {"episodes": options.episodes, "steps": options.steps, "rates": rates, "separate": separate}
    )


if __name__ == "__main__":
    main()
