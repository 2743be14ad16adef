#!/usr/bin/env bash
# What only a GPU can show of the learner and of pictures, in pieces that each end within eight minutes. torch and numpy
# suffice, for the piece render also triton, numba and mujoco-core.
#
#   benchmarks/gpu.sh              # names the pieces
#   benchmarks/gpu.sh acceptance   # what is wanted of a GPU, in one process of seven minutes
#   benchmarks/gpu.sh 71m          # runs one; results go to stdout and to gpu_PIECE.json or gpu_PIECE.txt
#   benchmarks/gpu.sh all          # runs all, one after another; those whose results are there are left out
#
# A piece that takes longer is stopped after 480 seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/gpu && ln -sfn ../../platform build/gpu/interplay  # the package, without an installation
export PYTHONPATH="$PWD/build/gpu${PYTHONPATH:+:$PYTHONPATH}" OMP_NUM_THREADS=1
python=${PYTHON:-python3}

learner() {  # NAME ARGUMENTS
  timeout 480 "$python" benchmarks/learner.py --json "gpu_$1.json" "${@:2}"
}

parts() {  # NAME ARGUMENTS
  timeout 480 "$python" benchmarks/gpu_parts.py "${@:2}" | tee "gpu_$1.txt.part"
  mv "gpu_$1.txt.part" "gpu_$1.txt"
}

render() {  # NAME ARGUMENTS
  timeout 480 "$python" benchmarks/gpu_render.py --json "gpu_$1.json" "${@:2}"
}

acceptance() {  # NAME ARGUMENTS
  timeout 480 "$python" benchmarks/gpu_acceptance.py --json "gpu_$1.json" "${@:2}"
}

pieces() { sed -n 's/^  \([a-z0-9-]*\)) \(acceptance\|learner\|parts\|render\) .*/\1/p' benchmarks/gpu.sh; }

case "${1:-}" in
  acceptance) acceptance acceptance ;;
  nano) learner nano --sizes nano --ways "fp32,bf16" ;;
  nano-compiled) learner nano-compiled --sizes nano --ways "bf16,bf16 compiled" --updates 20 ;;
  nano-graph) learner nano-graph --sizes nano --ways "fp32,fp32 check_lag,fp32 cuda_graph,bf16 check_lag,bf16 cuda_graph" --updates 20 ;;
  nano-graph-compiled) learner nano-graph-compiled --sizes nano --ways "bf16 check_lag,bf16 compiled cuda_graph" --updates 20 ;;
  nano-graph-loop) parts nano-graph-loop loop --size nano --way "bf16 cuda_graph" --updates 20 ;;
  18m) learner 18m --sizes 18m --ways "bf16 compiled channels_last" --accumulate 3 --recompute 0 ;;
  71m-eager) learner 71m-eager --sizes 71m --ways bf16 --accumulate 6 --recompute 0 --updates 5 ;;
  71m) learner 71m --sizes 71m --ways "bf16 compiled channels_last" --accumulate 6 --recompute 0 ;;
  71m-recompute) learner 71m-recompute --sizes 71m --ways "bf16 compiled channels_last" --recompute 8 ;;
  71m-profile) learner 71m-profile --sizes 71m --ways "bf16 compiled channels_last" --accumulate 6 --recompute 0 --updates 3 --profile ;;
  165m) learner 165m --sizes 165m --ways "bf16 compiled channels_last" --accumulate 8 --recompute 0 --updates 5 ;;
  nano-gradient) parts nano-gradient gradient --size nano ;;
  18m-gradient) parts 18m-gradient gradient --size 18m ;;
  nano-loop) parts nano-loop loop --size nano --way bf16 --updates 20 ;;
  18m-loop) parts 18m-loop loop --size 18m --way "bf16 compiled channels_last" --accumulate 3 ;;
  71m-loop) parts 71m-loop loop --size 71m --way "bf16 compiled channels_last" --accumulate 6 --updates 5 ;;
  nano-serve) parts nano-serve serve --size nano ;;
  71m-serve) parts 71m-serve serve --size 71m --updates 5 ;;
  render) render render ;;
  render-antialiased) render render-antialiased --antialias ;;
  all)
    for piece in $(pieces); do
      [ -e "gpu_$piece.json" ] || [ -e "gpu_$piece.txt" ] || bash benchmarks/gpu.sh "$piece" || echo "$piece: not finished" >&2
    done ;;
  *) pieces; exit 2 ;;
esac
