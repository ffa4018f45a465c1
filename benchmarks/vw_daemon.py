"""Vowpal Wabbit's daemon from its Python package, which has no `vw` program: `python vw_daemon.py PORT`.

The package's library holds the same loop that `vw --daemon` runs. One child, so that all learn into one model.
"""

import sys

import pylibvw
import vowpalwabbit

MODEL = "--cb_explore_adf --bag 5 -q ca --ignore_linear c --random_seed 1 --quiet"
SERVER = "--daemon --foreground --num_children 1"

if __name__ == "__main__":
    pylibvw.vw.run_parser(vowpalwabbit.Workspace(f"{MODEL} {SERVER} --port {int(sys.argv[1])}"))
