"""Fifty trials in one program: how much does exploration matter on an easy and a hard wheel?"""

from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.problems import problems


def main(trials: int = 50, horizon: int | None = None) -> None:
    for problem in ("wheel-0.5", "wheel-0.95"):
        for policy in ("Uniform", "LinGreedy", "LinFullPost"):
            outcome = simulate(policies.get(policy), problems.get(problem), trials=trials, horizon=horizon)
            stuck = (outcome.simple > 0.5 * outcome.simple.max()).mean()
            print(f"{problem:10}  {policy:11}  regret {outcome.cumulative.mean():9.0f}  stuck trials {stuck:4.0%}")


if __name__ == "__main__":
    main()
