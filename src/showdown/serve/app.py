"""The paths of the server: one table, which answers requests and describes itself."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from showdown.agent import Chances, Decision
from showdown.agent.together import (
    AddCall,
    Answer,
    Call,
    DecideCall,
    LearnCall,
    ProbabilitiesCall,
    RemoveCall,
    RewardCall,
)
from showdown.basics.errors import ShowdownError, UsageError
from showdown.serve import bodies, metrics
from showdown.serve.description import HEADERS, Route, openapi, page
from showdown.serve.http import CLOSE, Admission, Head, Reply, mistake, short, status_of
from showdown.serve.paths import PATHS
from showdown.serve.service import Service

Send = Callable[[Reply], None]


class App:
    """The whole application: `answer` hands each request to what its path names."""

    def __init__(
        self, service: Service, token: str, hosts: Iterable[str] = (), address: str = "http://127.0.0.1:8000"
    ) -> None:
        self._service, self._address = service, address
        self._admission = Admission(token, hosts)
        self._paths = {path.name: path for path in PATHS}
        self._handlers: dict[str, Callable[[bytes, Send], None]] = {
            "/choose": self._choose,
            "/choose/batch": self._choose_batch,
            "/probabilities": self._probabilities,
            "/learn": self._learn,
            "/learn/batch": self._learn_batch,
            "/actions": self._actions,
            "/actions/add": self._add,
            "/actions/remove": self._remove,
            "/health": self._health,
            "/metrics": self._metrics,
            "/docs": self._docs,
            "/": self._docs,
            "/openapi.json": self._openapi,
        }
        self._described = openapi(PATHS)

    def refuses(self, head: Head) -> Reply | None:
        """The answer to a request whose body is not read; None where it is."""
        path = self._paths.get(head.path)
        refused = self._admission.refuses(head, is_open=path is not None and path.is_open)
        if path is not None and refused is not None and refused.status == 413 and head.method not in path.methods:
            return _other_method(path, CLOSE)
        return refused

    def refused(self, head: Head, reply: Reply) -> None:
        """Count a request that is answered without being read to its end."""
        self._service.metrics.count(self._name(head), reply.status, 0.0)

    def answer(self, head: Head, body: bytes, send: Send) -> None:
        """Call `send` once with the answer, now or later."""
        name, began = self._name(head), time.perf_counter()

        def counted(reply: Reply) -> None:
            send(reply)
            self._service.metrics.count(name, reply.status, time.perf_counter() - began)

        path = self._paths.get(head.path)
        if path is None:
            counted(mistake(404, "there is nothing at this path; GET /docs lists what there is"))
        elif head.method not in path.methods:
            counted(_other_method(path))
        else:
            try:
                self._handlers[path.name](body, counted)
            except Exception as error:
                counted(_failed(error))

    def _name(self, head: Head) -> str:
        return head.path if head.path in self._paths else "other"

    def _ask(self, calls: Sequence[Call], made: Callable[[Sequence[Answer]], bodies.Body], send: Send) -> None:
        """Send what `made` makes of the agent's answers."""

        def then(answers: Sequence[Answer] | Exception) -> None:
            try:
                if isinstance(answers, Exception):
                    raise answers
                reply = _json(made(answers))
            except Exception as error:
                reply = _failed(error)
            send(reply)

        self._service.ask(calls, then)

    # Deciding

    def _choose(self, body: bytes, send: Send) -> None:
        self._ask([_decide_call(bodies.read(bodies.Choose, body))], lambda made: self._chosen(_only(made)), send)

    def _choose_batch(self, body: bytes, send: Send) -> None:
        asked = bodies.read(bodies.ChooseBatch, body)
        self._check_size(len(asked.decisions))

        def made(answers: Sequence[Answer]) -> bodies.ChosenBatch:
            return bodies.ChosenBatch(
                decisions=[
                    bodies.Mistake(error=short(str(one))) if isinstance(one, ShowdownError) else self._chosen(one)
                    for one in answers
                ]
            )

        self._ask([_decide_call(one) for one in asked.decisions], made, send)

    def _chosen(self, made: Answer) -> bodies.Chosen:
        decision = cast(Decision, made)
        return bodies.Chosen(
            id=decision.id,
            action=decision.known_as,
            propensity=decision.propensity,
            propensity_error=decision.propensity_error,
        )

    def _probabilities(self, body: bytes, send: Send) -> None:
        asked = bodies.read(bodies.Choose, body)

        def made(answers: Sequence[Answer]) -> bodies.Chances:
            chances = cast(Chances, _only(answers))
            each = [(str(name), place) for place, name in enumerate(chances.names) if name is not None]
            values, errors = chances.law.values.tolist(), chances.law.errors.tolist()
            return bodies.Chances(
                probabilities={name: values[place] for name, place in each},
                errors={name: errors[place] for name, place in each},
            )

        self._ask([ProbabilitiesCall(asked.context, asked.available, asked.actions)], made, send)

    # Learning

    def _learn(self, body: bytes, send: Send) -> None:
        calls = [_learn_call(bodies.read(bodies.Learn, body))]
        self._ask(calls, lambda learned: bodies.LearnReply(learned=bool(_only(learned))), send)

    def _learn_batch(self, body: bytes, send: Send) -> None:
        told = bodies.read(bodies.LearnBatch, body)
        self._check_size(len(told.rewards))
        results: list[Any] = []  # a call for each reward, or what is wrong with it
        for one in told.rewards:
            try:
                results.append(_learn_call(one))
            except UsageError as error:
                results.append(error)
        places = [place for place, call in enumerate(results) if not isinstance(call, UsageError)]

        def made(answers: Sequence[Answer]) -> bodies.LearnReplyBatch:
            for place, answer in zip(places, answers, strict=True):
                results[place] = answer
            each = [
                bodies.LearnReplyOne(learned=False, error=short(str(result)))
                if isinstance(result, ShowdownError)
                else bodies.LearnReplyOne(learned=result)
                for result in results
            ]
            return bodies.LearnReplyBatch(learned=sum(one.learned for one in each), rewards=each)

        self._ask([results[place] for place in places], made, send)

    def _check_size(self, count: int) -> None:
        if count > self._service.limits.batch:
            raise UsageError(f"a batch may have at most {self._service.limits.batch} entries, not {count}")

    # Actions that come and go

    def _actions(self, _: bytes, send: Send) -> None:
        _in_a_thread(lambda: _json(self._now()), send)

    def _add(self, body: bytes, send: Send) -> None:
        call = AddCall(bodies.read(bodies.OneAction, body).name, self._service.limits.actions)
        self._ask([call], self._changed, send)

    def _remove(self, body: bytes, send: Send) -> None:
        self._ask([RemoveCall(bodies.read(bodies.OneAction, body).name)], self._changed, send)

    def _changed(self, answers: Sequence[Answer]) -> bodies.Actions:
        _only(answers)
        return self._now()

    def _now(self) -> bodies.Actions:
        return bodies.Actions(actions=self._service.agent.actions)

    # Watching

    def _health(self, _: bytes, send: Send) -> None:
        agent, trouble = self._service.agent, self._service.trouble
        health = bodies.Health(
            status="degraded" if trouble else "ok",
            reason=short(trouble),
            policy=self._service.policy,
            decisions=agent.decisions,
            observations=agent.observations,
            seconds_since_save=self._service.seconds_since_save,
        )
        send(_json(health))

    def _metrics(self, _: bytes, send: Send) -> None:
        _in_a_thread(lambda: Reply(200, self._service.metrics.text(), metrics.CONTENT_TYPE), send)

    def _docs(self, _: bytes, send: Send) -> None:
        def made() -> Reply:
            text = page(self._described, self._service.unusual(), self._service.agent, self._address)
            return Reply(200, text.encode(), b"text/html; charset=utf-8", HEADERS)

        _in_a_thread(made, send)

    def _openapi(self, _: bytes, send: Send) -> None:
        send(Reply(200, json.dumps(self._described).encode()))


def _other_method(path: Route, *headers: tuple[bytes, bytes]) -> Reply:
    allowed = ", ".join(path.methods)
    return mistake(405, f"this path takes {allowed}", (b"allow", allowed.encode()), *headers)


def _json(body: bodies.Body) -> Reply:
    return Reply(200, body.model_dump_json().encode())


def _failed(error: Exception) -> Reply:
    """The answer to a request that could not be done, or that the program failed at."""
    if isinstance(error, ShowdownError):
        return mistake(status_of(error), str(error))
    logging.getLogger("showdown.serve").error("a request failed", exc_info=error)
    return mistake(500, f"the server failed ({type(error).__name__}); its log says where")


def _only(answers: Sequence[Answer]) -> Answer:
    """The answer to a single call; raises the error that stands in its place."""
    (answer,) = answers
    if isinstance(answer, ShowdownError):
        raise answer
    return answer


def _in_a_thread(made: Callable[[], Reply], send: Send) -> None:
    """Send what takes a while to make, or waits for the agent, and answer others meanwhile."""

    def then(done: asyncio.Future[Reply]) -> None:
        error = done.exception()
        send(done.result() if error is None else _failed(cast(Exception, error)))

    asyncio.get_running_loop().run_in_executor(None, made).add_done_callback(then)


def _decide_call(asked: bodies.Choose) -> DecideCall:
    return DecideCall(asked.context, asked.available, asked.actions)


def _learn_call(told: bodies.Learn) -> Call:
    if told.id is not None:
        if told.context is not None or told.action is not None or told.features is not None:
            raise UsageError("give the id of a decision, or a context and an action, not both")
        return RewardCall(told.id, told.reward)
    if told.context is None or told.action is None:
        raise UsageError("a reward needs the id of its decision, or a context and an action")
    return LearnCall(told.context, told.action, told.reward, told.features)
