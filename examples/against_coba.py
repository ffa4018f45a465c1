"""showdown's methods beside coba's, on an environment of coba (`pip install coba`), with a test of who is better.

Learners of MABWiser, contextualbandits and Vowpal Wabbit are taken as well: docs/your-own-code.md.
"""

from __future__ import annotations

import coba

import showdown as sd


def main(interactions: int = 1000, trials: int = 10) -> sd.Results:
    environment = coba.Environments.from_linear_synthetic(
        interactions, n_actions=5, n_action_features=0, seed=1
    ).scale()
    learners = {"coba LinUCB": coba.LinUCBLearner(features=["a", "ax"]), "coba random": coba.RandomLearner()}
    return sd.run(["LinFullPost", learners], environment, trials=trials)


if __name__ == "__main__":
    print(main())
