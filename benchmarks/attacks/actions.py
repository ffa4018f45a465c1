"""An attack on actions that come and go: the server is killed while clients add and remove them."""

from __future__ import annotations

import http.client
import random
import signal
import time
from pathlib import Path

from attacks import Score
from attacks.service import PATIENCE, Client, serving
from showdown.agent import Agent, journal_records
from showdown.policies import policies

OPTIONS = ("--archive-journal", "--save-every", "0.3", "--max-actions", "10000")
MOST = 6  # actions that one client has added and not removed


class Shopper(Client):
    """Decides and rewards as a `Client`, and goes on where an action is gone before its reward came."""

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            while True:
                made = self._post(connection, "/choose", {"context": [0.5, 0.5]})
                self.decided.append(made["id"])
                try:
                    self._post(connection, "/learn", {"id": made["id"], "reward": 1.0})
                    self.rewarded.append(made["id"])
                except ValueError as error:
                    if b"waits for a reward" not in error.args[0]:
                        raise
                    self.statuses[404] -= 1  # its place has been given to another action: that is said, not lost
        except TimeoutError:
            self.hung += 1
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the server was killed


class Changer(Client):
    """Adds and removes actions of its own until the server is gone, and remembers what was acknowledged."""

    def __init__(self, port: int, own: str) -> None:
        self.own, self.actions = own, set[str]()
        self.under_way = ""  # the action whose change was not acknowledged: it may have been made or not
        self.changes = 0
        super().__init__(port)

    def run(self) -> None:
        connection, draw = (
            http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE),
            random.Random(self.own),
        )
        try:
            while True:
                removes = len(self.actions) == MOST or (self.actions and draw.random() < 0.4)
                name = draw.choice(sorted(self.actions)) if removes else f"{self.own} {self.changes}"
                self.under_way = name
                self._post(connection, "/actions/remove" if removes else "/actions/add", {"name": name})
                self.actions ^= {name}
                self.under_way, self.changes = "", self.changes + 1
                time.sleep(0.005)
        except TimeoutError:
            self.hung += 1
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the server was killed

    def wrong(self, names: set[str]) -> int:
        """How many of its changes an agent with these actions does not have."""
        found = {name for name in names if name.startswith(f"{self.own} ")}
        return len((found ^ self.actions) - {self.under_way})


def kills_while_actions_change(folder: Path, times: int, seconds: float = 1.0) -> Score:
    """Kill a server that decides, learns, adds and removes: all that was acknowledged is there afterwards."""
    score = Score("a loaded server is killed (-9) while actions are added and removed")
    folder.mkdir(parents=True)
    Agent(policies.get("LinFullPost"), context_dim=2, num_actions=3, room=5).save(folder / "agent.npz")
    rewarded: list[str] = []
    changers: list[Changer] = []
    for number in range(times):
        with score.attempt(), serving(folder, *OPTIONS) as (port, process):
            clients = [Shopper(port) for _ in range(2)]
            new = [Changer(port, f"{number}-{place}") for place in range(2)]
            time.sleep(seconds)
            score.crashed += process.poll() is not None
            process.send_signal(signal.SIGKILL)
            process.wait()
            for client in (*clients, *new):
                client.join(PATIENCE)
                score.hung += client.is_alive() or client.hung
                score.crashed += sum(client.statuses[status] for status in (404, 422, 500))
                rewarded += client.rewarded
            for changer in new:  # what was under way when the server was killed is settled by now
                with Agent.load(folder / "agent.npz", journal=folder / "journal") as agent:
                    names = {str(name) for name in agent.actions}
                score.lost += changer.wrong(names)
                changer.actions = {name for name in names if name.startswith(f"{changer.own} ")}
                changer.under_way = ""
            changers += new
    with Agent.load(folder / "agent.npz", journal=folder / "journal") as agent:
        names = {str(name) for name in agent.actions}
        observed = agent.observations
    score.lost += sum(changer.wrong(names) for changer in changers)
    paid = [record["decision"] for record in journal_records(folder / "journal") if "reward" in record]
    score.lost += len(set(rewarded) - set(paid))
    score.silent += observed != len(paid)
    changes = sum(changer.changes for changer in changers)
    score.attack += f" ({changes:,} acknowledged changes, {len(rewarded):,} acknowledged rewards)"
    return score
