"""Why are the networks worse than published on jester? Which trials were played, and what changes the regret.

    python benchmarks/jester.py trials LINEAR   # are the 20 trials of docs/results/neural-more harder than others?
    python benchmarks/jester.py variants RMS,NeuralLinear,Dropout --trials 6 --horizon 3000 --out jester.csv

`trials` needs a store of linear policies on jester with 200 trials: `showdown run --problems jester --trials 200
--policies Uniform,LinFullPost,LinGreedy,LinDiagPrecPost-SL,LinPost-SL --out LINEAR`. Which jokes are actions differs
from trial to trial and is the same for every policy, so a linear policy says how hard a trial is, and 200 trials how
hard trials are: regrets of networks are brought from their 20 trials to 200 by regression (a control variate).

`variants` plays each policy with one thing changed, on the same trials, and shows the paired difference in % of
Uniform. A line is written as soon as it is played, and a second call plays what is missing.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import fields, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from showdown.analysis.published import published
from showdown.bench.store import Store
from showdown.config import config, core
from showdown.play.simulate import simulate
from showdown.policies import policies
from showdown.policies.greedy_network import GreedyNetwork
from showdown.problems.jester import CONTEXT_DIM, NUM_JOKES, Jester, JesterEpisode, JesterTables
from showdown.protocol.problem import Round

MORE = Path(__file__).parents[1] / "docs" / "results" / "neural-more"


@config
class JesterAs(Jester):
    """Jester with something changed."""

    scale: float = 1.0  # of contexts
    offset: float = 0.0  # added to contexts
    reward_scale: float = 1.0
    roles: str = "drawn"  # first: the first 32 jokes are context in every trial; popular: the most rated ones are

    def begin(self, key: jax.Array, tables: JesterTables) -> JesterEpisode:
        episode = super().begin(key, tables)
        return episode if self.roles == "drawn" else episode._replace(jokes=jnp.arange(NUM_JOKES))

    def context(self, step: jax.Array, episode: JesterEpisode, tables: JesterTables) -> jax.Array:
        return self.scale * super().context(step, episode, tables) + self.offset

    def round(self, step: jax.Array, episode: JesterEpisode, tables: JesterTables) -> Round:
        ratings = tables.ratings[episode.order[step]][episode.jokes]
        rewards = self.reward_scale * ratings[CONTEXT_DIM:]
        return Round(self.scale * ratings[:CONTEXT_DIM] + self.offset, rewards, rewards)


@config
class NoOutputBias(GreedyNetwork):
    """A greedy network whose last layer has no bias."""

    def predict(self, key: jax.Array, parameters, inputs: jax.Array) -> jax.Array:
        last = parameters[-1]
        return super().predict(key, (*parameters[:-1], last._replace(bias=jnp.zeros_like(last.bias))), inputs)


@config
class SmallFirstLayer(GreedyNetwork):
    """A greedy network whose first layer begins smaller: by the size of jester's contexts, 5.3."""

    def init_fit(self, key: jax.Array, spec):
        fit = super().init_fit(key, spec)
        first = fit.parameters[0]
        return fit._replace(parameters=(first._replace(weights=first.weights / 5.3), *fit.parameters[1:]))


def of_kind(policy, kind: type):
    """A preset of the greedy network as another class with the same fields; None where it is no such preset."""
    inner = policy.inner if hasattr(policy, "inner") else None
    if type(inner) is not GreedyNetwork:
        return None
    return replace(policy, inner=kind(**{one.name: getattr(inner, one.name) for one in fields(inner) if one.init}))


def variants(name: str, horizon: int) -> dict[str, tuple]:
    """By what is changed: the policy and the problem."""
    plain, jester = policies.get(name), JesterAs(horizon=horizon)
    own = {one.name for one in fields(core(plain))}

    def override(**changes) -> tuple | None:
        known = own.issuperset(changes)
        written = ",".join(f"{field}={value}" for field, value in changes.items())
        return (policies.get(f"{name}[{written}]"), jester) if known else None

    found = {
        "as it is": (plain, jester),
        "contexts / 5.3": (plain, replace(jester, scale=1 / 5.3)),
        "contexts / 10": (plain, replace(jester, scale=0.1)),
        "contexts + 1": (plain, replace(jester, offset=1.0)),
        "rewards / 10": (plain, replace(jester, reward_scale=0.1)),
        "roles fixed: the first 32 jokes": (plain, replace(jester, roles="first")),
        "initial scale 0.1": override(initial_scale=0.1),
        "initial scale 1": override(initial_scale=1.0),
        "clipped at 1": override(gradient_clip=1.0),
        "clipped at 50": override(gradient_clip=50.0),
        "not clipped": override(gradient_clip=1e9),
        "learning rate 0.1, decay 0.5": override(learning_rate=0.1, learning_rate_decay=0.5),  # the demonstration's
        "learning rate decay 2.5": override(learning_rate_decay=2.5),  # as RMS-MR
        "learning rate reset": override(reset_learning_rate="true"),
        "first layer / 5.3": (of_kind(plain, SmallFirstLayer), jester),
        "no bias in the last layer": (of_kind(plain, NoOutputBias), jester),
    }
    return {what: each for what, each in found.items() if each is not None and each[0] is not None}


def play(asked: argparse.Namespace) -> None:
    done = read(asked.out)
    only = [what.replace("@", ",") for what in asked.only.split(",")] if asked.only else []
    uniform = {}
    for name in asked.policies.split(","):
        for what, (policy, problem) in variants(name, asked.horizon).items():
            key = (name, what, str(asked.trials), str(asked.horizon))
            if key in done or (only and what not in only):
                continue
            if problem not in uniform:
                uniform[problem] = simulate(policies.get("Uniform"), problem, trials=50).cumulative.mean()
            shares = 100 * simulate(policy, problem, trials=asked.trials).cumulative / uniform[problem]
            with asked.out.open("a") as stream:
                csv.writer(stream).writerow([*key, *(f"{share:.4f}" for share in shares)])
            print(key, f"{shares.mean():.2f}", flush=True)
    show(read(asked.out))


def read(path: Path) -> dict[tuple[str, ...], np.ndarray]:
    if not path.exists():
        return {}
    with path.open() as stream:
        return {tuple(row[:4]): np.array(row[4:], float) for row in csv.reader(stream)}


def show(done: dict[tuple[str, ...], np.ndarray]) -> None:
    for (name, what, trials, horizon), shares in done.items():
        plain = done.get((name, "as it is", trials, horizon))
        apart = shares - plain if plain is not None else shares * np.nan
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        print(f"| {name} | {what} | {trials} × {horizon} | {shares.mean():.1f} | {apart.mean():+.1f} ± {error:.1f} |")


def trials(asked: argparse.Namespace) -> None:
    """Every network of the stored cells, as it was played and brought to the trials of the linear store."""
    linear, more = Store(asked.linear), Store(MORE)
    frame = linear.frame(linear.cells())
    hard = frame[frame["problem"] == "jester"].pivot(index="trial", columns="policy", values="cumulative")
    own = more.frame(more.cells())
    own = own[(own["problem"] == "jester")].pivot(index="trial", columns="policy", values="cumulative")
    paper = published("paper", "cumulative")
    paper = paper[paper["problem"] == "jester"].set_index("policy")
    uniform = hard["Uniform"].mean()
    print(f"Uniform: 20 trials {hard['Uniform'][:20].mean():,.0f}, {len(hard)} trials {uniform:,.0f}")
    for name in hard.drop(columns="Uniform"):
        rows = [100 * hard[name][:count].mean() / hard["Uniform"][:count].mean() for count in (20, 50, len(hard))]
        print(f"{name}: {rows[0]:.2f} over 20 trials, {rows[1]:.2f} over 50, {rows[2]:.2f} over {len(hard)}")
    print("| policy | 20 trials | brought to all | published | z before | z after |\n|---|---|---|---|---|---|")
    controls = hard[["Uniform", "LinFullPost", "LinGreedy"]].to_numpy()
    base = own["Uniform"].mean()
    for name in own.drop(columns="Uniform"):
        values = own[name].dropna().to_numpy()
        before, after = controlled(values, controls, len(values))
        ours, theirs, spread = 100 * values.mean() / base, paper.loc[name, "paper_mean"], paper.loc[name, "paper_sem"]
        moved, error = 100 * before / uniform, 100 * after / uniform
        plain = 100 * values.std(ddof=1) / np.sqrt(len(values)) / base
        print(
            f"| {name} | {ours:.2f} ± {plain:.2f} | {moved:.2f} ± {error:.2f} | {theirs:.2f} ± {spread:.2f} | "
            f"{(ours - theirs) / np.hypot(plain, spread):.1f} | {(moved - theirs) / np.hypot(error, spread):.1f} |"
        )


def controlled(values: np.ndarray, controls: np.ndarray, count: int) -> tuple[float, float]:
    """The mean that all trials of the controls would have, and its standard error, by regression on the controls."""
    design = np.column_stack([np.ones(count), controls[:count]])
    slopes, *_ = np.linalg.lstsq(design, values, rcond=None)
    left = values - design @ slopes
    noise = left.var(ddof=0) * count / (count - design.shape[1])
    at = np.concatenate([[1.0], controls.mean(axis=0)])
    within = noise * at @ np.linalg.inv(design.T @ design) @ at
    between = slopes[1:] @ np.cov(controls.T) @ slopes[1:] / len(controls)
    return float(at @ slopes), float(np.sqrt(within + between))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_subparsers(required=True)
    one = which.add_parser("trials")
    one.add_argument("linear", type=Path)
    one.set_defaults(run=trials)
    two = which.add_parser("variants")
    two.add_argument("policies")
    two.add_argument("--only", help="names of changes, with a comma between them; @ stands for a comma inside one")
    two.add_argument("--trials", type=int, default=6)
    two.add_argument("--horizon", type=int, default=3000)
    two.add_argument("--out", type=Path, default=Path("jester.csv"))
    two.set_defaults(run=play)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
