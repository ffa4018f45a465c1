"""The same policy online: choose, learn, save, load, go on."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from showdown.agent import Agent
from showdown.policies import policies


def main(steps: int = 400) -> float:
    generator = np.random.default_rng(0)
    preferences = generator.normal(size=(3, 4))  # what each of three actions pays depends on four features
    agent = Agent(policies.get("LinFullPost"), context_dim=4, num_actions=3, seed=1)
    regrets = []
    with TemporaryDirectory() as folder:
        for step in range(steps):
            context = generator.normal(size=4)
            action = agent.choose(context)
            means = preferences @ context
            agent.learn(context, action, means[action] + 0.1 * generator.normal())
            regrets.append(means.max() - means[action])
            if step == steps // 2:  # as a service would between two deployments
                agent.save(Path(folder) / "agent.npz")
                agent = Agent.load(Path(folder) / "agent.npz")
    late = float(np.mean(regrets[-50:]))
    print(f"regret per decision: {np.mean(regrets[:50]):.2f} at first, {late:.3f} at the end")
    return late


if __name__ == "__main__":
    main()
