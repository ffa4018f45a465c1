"""The paths of the server: one table, which answers requests and describes itself."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

from showdown.agent import Decision
from showdown.agent.together import Answer, Call, DecideCall, LearnCall, RewardCall
from showdown.basics.errors import ShowdownError, UsageError
from showdown.serve import bodies, metrics
from showdown.serve.description import HEADERS, Route, openapi, page
from showdown.serve.http import Admission, RefusedError, Reply, mistake, short, status_of
from showdown.serve.service import Service

Handler = Callable[[bytes], Awaitable[Reply]]


class App:
    """The whole application, as ASGI has it."""

    def __init__(
        self, service: Service, token: str, hosts: Iterable[str] = (), address: str = "http://127.0.0.1:8000"
    ) -> None:
        self._service, self._address = service, address
        self._admission = Admission(token, service.limits, hosts)
        self._paths = {path.name: path for path in PATHS}
        handlers: dict[str, Handler] = {
            "/choose": self._choose,
            "/choose/batch": self._choose_batch,
            "/learn": self._learn,
            "/learn/batch": self._learn_batch,
            "/health": self._health,
            "/metrics": self._metrics,
            "/docs": self._docs,
            "/": self._docs,
            "/openapi.json": self._openapi,
        }
        self._handlers = handlers
        self._described = openapi(PATHS)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        began = time.perf_counter()
        reply = await self._reply(scope, receive)
        await reply.send(send)
        name = scope["path"] if scope["path"] in self._paths else "other"
        self._service.metrics.count(name, reply.status, time.perf_counter() - began)

    async def _live(self, receive: Any, send: Any) -> None:
        """Save now and then from the start of the server to its end."""
        await receive()
        saving = asyncio.create_task(self._service.save_now_and_then())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        saving.cancel()
        with suppress(asyncio.CancelledError):
            await saving
        await asyncio.to_thread(self._service.close)
        await send({"type": "lifespan.shutdown.complete"})

    async def _reply(self, scope: Any, receive: Any) -> Reply:
        path = self._paths.get(scope["path"])
        try:
            body = await self._admission.body(scope, receive, is_open=path is not None and path.is_open)
            if path is None:
                return mistake(404, "there is nothing at this path; GET /docs lists what there is")
            if scope["method"] not in path.methods:
                allowed = ", ".join(path.methods)
                return mistake(405, f"this path takes {allowed}", (b"allow", allowed.encode()))
            return await self._handlers[path.name](body)
        except RefusedError as refused:
            return mistake(refused.status, str(refused), (b"connection", b"close"))
        except ShowdownError as error:
            return mistake(status_of(error), str(error))
        except Exception as error:
            logging.getLogger("uvicorn.error").exception("a request failed")
            return mistake(500, f"the server failed ({type(error).__name__}); its log says where")

    # Deciding

    async def _choose(self, body: bytes) -> Reply:
        (made,) = await self._service.ask([_decide_call(bodies.read(bodies.Choose, body))])
        if isinstance(made, ShowdownError):
            raise made
        return _json(self._chosen(made))

    async def _choose_batch(self, body: bytes) -> Reply:
        asked = bodies.read(bodies.ChooseBatch, body)
        self._check_size(len(asked.decisions))
        made = await self._service.ask([_decide_call(one) for one in asked.decisions])
        return _json(bodies.ChosenBatch(decisions=[self._chosen(one) for one in made]))

    def _chosen(self, made: Answer) -> bodies.Chosen | bodies.Mistake:
        if not isinstance(made, Decision):
            return bodies.Mistake(error=short(str(made)))
        return bodies.Chosen(
            id=made.id,
            action=made.action if self._service.agent.encoder is None else made.name,
            propensity=made.propensity,
            propensity_error=made.propensity_error,
        )

    # Learning

    async def _learn(self, body: bytes) -> Reply:
        (learned,) = await self._service.ask([_learn_call(bodies.read(bodies.Learn, body))])
        if isinstance(learned, ShowdownError):
            raise learned
        return _json(bodies.LearnReply(learned=bool(learned)))

    async def _learn_batch(self, body: bytes) -> Reply:
        told = bodies.read(bodies.LearnBatch, body)
        self._check_size(len(told.rewards))
        results: list[Any] = []  # a call for each reward, or what is wrong with it
        for one in told.rewards:
            try:
                results.append(_learn_call(one))
            except UsageError as error:
                results.append(error)
        places = [place for place, call in enumerate(results) if not isinstance(call, UsageError)]
        learned = await self._service.ask([results[place] for place in places])
        for place, answer in zip(places, learned, strict=True):
            results[place] = answer
        each = [
            bodies.LearnReplyOne(learned=False, error=short(str(result)))
            if isinstance(result, ShowdownError)
            else bodies.LearnReplyOne(learned=result)
            for result in results
        ]
        return _json(bodies.LearnReplyBatch(learned=sum(one.learned for one in each), rewards=each))

    def _check_size(self, count: int) -> None:
        if count > self._service.limits.batch:
            raise UsageError(f"a batch may have at most {self._service.limits.batch} entries, not {count}")

    # Watching

    async def _health(self, _: bytes) -> Reply:
        agent, trouble = self._service.agent, self._service.trouble
        return _json(
            bodies.Health(
                status="degraded" if trouble else "ok",
                reason=short(trouble),
                policy=self._service.policy,
                decisions=agent.decisions,
                observations=agent.observations,
                seconds_since_save=self._service.seconds_since_save,
            )
        )

    async def _metrics(self, _: bytes) -> Reply:
        return Reply(200, await asyncio.to_thread(self._service.metrics.text), metrics.CONTENT_TYPE)

    async def _docs(self, _: bytes) -> Reply:
        described, agent = self._described, self._service.agent
        text = await asyncio.to_thread(lambda: page(described, self._service.unusual(), agent, self._address))
        return Reply(200, text.encode(), b"text/html; charset=utf-8", HEADERS)

    async def _openapi(self, _: bytes) -> Reply:
        return Reply(200, json.dumps(self._described).encode())


PATHS = (
    Route("/choose", "Choose an action for a context", bodies.Choose, bodies.Chosen),
    Route(
        "/choose/batch",
        "Choose for many contexts",
        bodies.ChooseBatch,
        bodies.ChosenBatch,
        "What is wrong with one of them is in its place, and the others are decided.",
    ),
    Route("/learn", "Learn what an action paid", bodies.Learn, bodies.LearnReply),
    Route(
        "/learn/batch",
        "Learn many rewards",
        bodies.LearnBatch,
        bodies.LearnReplyBatch,
        "What is wrong with one of them is in its place, and the others are learned.",
    ),
    Route("/health", "Whether it runs, and what it has done; needs no token", None, bodies.Health, is_open=True),
    Route("/metrics", "Counts for Prometheus", None, None),
    Route("/docs", "This page", None, None, is_open=True, is_listed=False),
    Route("/", "This page", None, None, is_open=True, is_listed=False),
    Route("/openapi.json", "The description for programs", None, None, is_open=True, is_listed=False),
)


def _json(body: bodies.Body) -> Reply:
    return Reply(200, body.model_dump_json().encode())


def _decide_call(asked: bodies.Choose) -> DecideCall:
    return DecideCall(asked.context, asked.available)


def _learn_call(told: bodies.Learn) -> Call:
    if told.id is not None:
        if told.context is not None or told.action is not None:
            raise UsageError("give the id of a decision, or a context and an action, not both")
        return RewardCall(told.id, told.reward)
    if told.context is None or told.action is None:
        raise UsageError("a reward needs the id of its decision, or a context and an action")
    return LearnCall(told.context, told.action, told.reward)
