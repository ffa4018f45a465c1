"""Frames as `Store.frame` gives them, written by hand."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager

import pandas as pd
import pytest


@pytest.fixture
def frame_of():
    """Call with {(policy, problem): cumulative regret of each trial}; every cell of one call shares the keywords."""

    def make(cells, *, horizon=100, seed=0, seconds=1.0, made="", data="") -> pd.DataFrame:
        rows = []
        for (policy, problem), regrets in cells.items():
            for trial, regret in enumerate(regrets):
                rows.append(
                    {
                        "cell": f"{policy}|{problem}|{horizon}|{seed}|{len(regrets)}|{made}",
                        "policy": policy,
                        "problem": problem,
                        "data": data,
                        "horizon": horizon,
                        "seed": seed,
                        "trials": len(regrets),
                        "compile_seconds": 2.0,
                        "run_seconds": seconds[policy] if isinstance(seconds, dict) else seconds,
                        "trial": trial,
                        "cumulative": float(regret),
                        "cumulative_expected": regret + 1.0,
                        "simple": regret / 10,
                        "simple_expected": regret / 20,
                        "reward": 1000.0 - regret,
                        "reward_fixed": 900.0 + trial,
                    }
                )
        return pd.DataFrame(rows)

    return make


@pytest.fixture
def over_http():
    """Call with an agent and a file: `ask(path, body)` is answered as by a server, without a socket."""
    pytest.importorskip("httptools", reason="the extra 'serve' is not installed")
    from showdown.serve.app import App
    from showdown.serve.http import Head, RequestLimits
    from showdown.serve.service import Service

    @contextmanager
    def serving(agent, file, **limits):
        service = Service(agent, "", file, save_every=1000, limits=RequestLimits(**limits), say=print)
        app = App(service, "a-token-for-tests-only")

        async def answered(head, body):
            reply = asyncio.get_running_loop().create_future()
            app.answer(head, body, lambda made: reply.done() or reply.set_result(made))
            return await reply

        def ask(path, body=None, method=None):
            sent = b"" if body is None else json.dumps(body).encode()
            head = Head(method or ("GET" if body is None else "POST"), path, {})
            reply = asyncio.run(answered(head, sent))
            return reply.status, json.loads(reply.body) if reply.kind == b"application/json" else reply.body.decode()

        try:
            yield ask
        finally:
            service.close()

    return serving
