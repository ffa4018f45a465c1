"""The paths of the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request, Security
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.responses import Response

from showdown import __version__
from showdown.agent import Agent
from showdown.basics.errors import ShowdownError, UsageError
from showdown.serve import bodies, metrics, page
from showdown.serve.answers import add_handlers, short
from showdown.serve.middleware import Gate
from showdown.serve.quick import ShortWay, quick
from showdown.serve.service import Service
from showdown.serve.strict_json import StrictRequest

SECRET = [Security(HTTPBearer(auto_error=False))]  # for the description only: the gate has checked the token
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": bodies.Problem} for status in (401, 404, 413, 415, 422, 503)
}


class StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strictly


def build(service: Service, token: str) -> Gate:
    """The whole application, with the gate before it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        saving = asyncio.create_task(service.save_now_and_then())
        yield
        saving.cancel()
        with suppress(asyncio.CancelledError):
            await saving
        await asyncio.to_thread(service.close)

    app = FastAPI(title="showdown serve", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.router.route_class = StrictRoute
    app.router.redirect_slashes = False
    add_handlers(app)
    short_ways = {"/choose": _add_deciding(app, service), "/learn": _add_learning(app, service)}
    _add_watching(app, service)
    paths = frozenset(path for path in app.openapi()["paths"]) | {"/docs", "/openapi.json"}
    return Gate(app, token, service.limits, service.requests, paths, short_ways)


def _add_deciding(app: FastAPI, service: Service) -> ShortWay:
    def decide(asked: bodies.Choose) -> bodies.Decided:
        agent = service.agent
        made = agent.decide(asked.context, available=asked.available)
        action = made.action if agent.encoder is None else made.name
        return bodies.Decided(
            id=made.id, action=action, propensity=made.propensity, propensity_error=made.propensity_error
        )

    @app.post("/choose", dependencies=SECRET, responses=PROBLEMS, summary="Choose an action for a context")
    async def choose(asked: bodies.Choose) -> bodies.Decided:
        return await service.ask(decide, asked)

    @app.post("/choose/batch", dependencies=SECRET, responses=PROBLEMS, summary="Choose for many contexts")
    async def choose_batch(asked: bodies.ChooseBatch) -> bodies.DecidedBatch:
        """One after the other: what is wrong with one of them is in its place, and the others are decided."""
        _check_size(len(asked.decisions), service)
        results: list[bodies.Decided | bodies.Problem] = []
        for one in asked.decisions:
            try:
                results.append(await service.ask(decide, one))
            except ShowdownError as error:
                results.append(bodies.Problem(error=short(str(error))))
        return bodies.DecidedBatch(decisions=results)

    return quick(bodies.Choose, choose)


def _add_learning(app: FastAPI, service: Service) -> ShortWay:
    @app.post("/learn", dependencies=SECRET, responses=PROBLEMS, summary="Learn what an action paid")
    async def learn(told: bodies.Learn) -> bodies.Learned:
        return bodies.Learned(learned=await service.ask(_learn, service.agent, told))

    @app.post("/learn/batch", dependencies=SECRET, responses=PROBLEMS, summary="Learn many rewards")
    async def learn_batch(told: bodies.LearnBatch) -> bodies.LearnedBatch:
        """One after the other: what is wrong with one of them is in its place, and the others are learned."""
        _check_size(len(told.rewards), service)
        results = [await _learn_one(service, one) for one in told.rewards]
        return bodies.LearnedBatch(learned=sum(result.learned for result in results), rewards=results)

    return quick(bodies.Learn, learn)


def _learn(agent: Agent, told: bodies.Learn) -> bool:
    if told.id is not None:
        if told.context is not None or told.action is not None:
            raise UsageError("give the id of a decision, or a context and an action, not both")
        return agent.learn(told.id, told.reward)
    if told.context is None or told.action is None:
        raise UsageError("a reward needs the id of its decision, or a context and an action")
    return agent.learn(told.context, told.action, told.reward)


async def _learn_one(service: Service, told: bodies.Learn) -> bodies.LearnedOne:
    try:
        return bodies.LearnedOne(learned=await service.ask(_learn, service.agent, told))
    except ShowdownError as error:
        return bodies.LearnedOne(learned=False, error=short(str(error)))


def _add_watching(app: FastAPI, service: Service) -> None:
    @app.get("/health", summary="Whether it runs, and what it has done; needs no token")
    async def health() -> bodies.Health:
        agent = service.agent
        return bodies.Health(
            status="ok",
            policy=service.policy,
            decisions=agent.decisions,
            observations=agent.observations,
            seconds_since_save=service.seconds_since_save,
        )

    @app.get("/metrics", dependencies=SECRET, response_class=PlainTextResponse, summary="Counts for Prometheus")
    async def watched() -> Response:
        return Response(await asyncio.to_thread(service.metrics), media_type=metrics.CONTENT_TYPE)

    described = page.written(app.openapi())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(described, headers=page.HEADERS)


def _check_size(count: int, service: Service) -> None:
    if count > service.limits.batch:
        raise UsageError(f"a batch may have at most {service.limits.batch} entries, not {count}")
