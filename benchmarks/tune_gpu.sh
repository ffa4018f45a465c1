#!/usr/bin/env bash
# The tuning study on a machine with an accelerator: many processes share it under MPS, each tunes one policy on one
# problem into the store $STORE; what came of it is packed into $OUT every 20 seconds.
#   benchmarks/tune_gpu.sh linear      the six linear families of the paper's -MR and -SL rows, 200 candidates x 20 trials
#   benchmarks/tune_gpu.sh neural      NeuralLinear, RMS and Dropout on statlog, 64 candidates x 8 trials
# PYTHONPATH and SHOWDOWN_DATA must name the source and the data; see docs/tuning.md.
set -u
# In a folder that git ignores and that stays, so that a second call finds the daemon, the cache and the cells.
kept=$PWD/results
export CUDA_MPS_PIPE_DIRECTORY=$kept/mps CUDA_MPS_LOG_DIRECTORY=$kept/mps-log
mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"; nvidia-cuda-mps-control -d 2>/dev/null
export XLA_PYTHON_CLIENT_PREALLOCATE=false
export OPENBLAS_NUM_THREADS=1 PYTHONUNBUFFERED=1 TF_CPP_MIN_LOG_LEVEL=3 XDG_CACHE_HOME=${XDG_CACHE_HOME:-$kept/cache}
OUT=${OUT:-$kept/tune-gpu}; STORE=${STORE:-$kept/tuned-$1}; mkdir -p "$OUT" "$STORE"
python=${PYTHON:-python3}
# Only 8 files of 16 MiB come back: histories and logs, then the cells of fresh episodes. All candidates' cells stay on
# the machine, where a second call within 30 seconds finds them and continues.
pack() {
    tar czf "$OUT/.small.tgz" -C "$STORE" --exclude tuning/cells tuning && mv -f "$OUT/.small.tgz" "$OUT/$1-histories.tgz"
} 2>/dev/null
pack_cells() { tar cz -C "$STORE" cells | split -b 15000000 -d - "$OUT/$1-cells.tgz."; }
( while sleep 20; do pack "$1"; done ) & packer=$!
trap 'kill $packer 2>/dev/null; pack '"$1; pack_cells $1" EXIT
jobs_of_study=()
study() { # NAME ARGUMENTS...
    local name=$1; shift
    $python benchmarks/tune_study.py --out "$STORE" --sharers "$SHARERS" "$@" >>"$OUT/$name.txt" 2>&1 &
    jobs_of_study+=($!)
}
finish() { wait "${jobs_of_study[@]}"; jobs_of_study=(); echo "$1 after $SECONDS s"; }

case $1 in
linear)
    families="LinPost LinDiagPost LinDiagPrecPost LinFullPost LinFullDiagPost LinFullDiagPrecPost"
    report=${REPORT_ON:-mushroom,statlog,adult,covertype,jester,financial,wheel-0.5,wheel-0.95,linear}
    size="--budget ${BUDGET:-200} --batch ${BATCH:-50} --trials ${TRIALS:-20} --report-trials ${REPORT_TRIALS:-50} ${MORE:-}"
    SHARERS=12
    for problem in mushroom statlog; do
        for policy in $families; do study tuning --policies "$policy" --tune-on "$problem" $size; done
    done
    finish tuned
    SHARERS=6
    for policy in $families; do
        study report --policies "$policy" --tune-on mushroom,statlog --report-on "$report" --json "$STORE/tuning/$policy.report" $size
    done
    finish reported
    ;;
neural)
    report=${REPORT_ON:-statlog,mushroom,jester}
    size="--budget ${BUDGET:-64} --batch ${BATCH:-32} --trials ${TRIALS:-8} --report-trials ${REPORT_TRIALS:-16} ${MORE:-}"
    SHARERS=3
    for policy in NeuralLinear RMS Dropout; do
        study report --policies "$policy" --tune-on statlog --report-on "$report" --json "$STORE/tuning/$policy.report" $size
    done
    finish reported
    ;;
esac
grep -h -v -i warn "$OUT"/tuning.txt "$OUT"/report.txt 2>/dev/null | grep -v '^\['
