"""Every answer that is not a success: JSON with one sentence, `{"error": "…"}`, and no traceback."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from showdown.agent.decision import UnknownDecisionError
from showdown.agent.journal import JournalError
from showdown.basics.errors import ShowdownError, UsageError
from showdown.basics.text import one_line
from showdown.serve import wrong_body

LONGEST = 500  # characters of a sentence; it may quote what the client sent
PHRASES = {404: "there is nothing at this path; GET /docs lists what there is", 405: "this path takes another method"}


class BusyError(ShowdownError):
    """Too many requests wait already."""


def problem(status: int, sentence: str, *, close: bool = False) -> JSONResponse:
    headers = {"connection": "close"} if close else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status == 503:
        headers["retry-after"] = "1"
    return JSONResponse({"error": short(sentence)}, status, headers)


def failed(error: Exception) -> JSONResponse:
    return problem(500, f"the server failed ({type(error).__name__}); its log says where")


def short(sentence: str) -> str:
    text = one_line(sentence[: 2 * LONGEST])
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def status_of(error: ShowdownError) -> int:
    """The client's mistakes are 4xx; what only the operator can mend is 5xx."""
    if isinstance(error, UnknownDecisionError):
        return 404
    if isinstance(error, BusyError | JournalError):
        return 503
    return 422 if isinstance(error, UsageError) else 500


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(ShowdownError)
    async def ours(_: Request, error: ShowdownError) -> JSONResponse:
        return problem(status_of(error), str(error))

    @app.exception_handler(RequestValidationError)
    async def body(_: Request, error: RequestValidationError) -> JSONResponse:
        return problem(422, wrong_body.sentence(error.errors()))

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, PHRASES.get(error.status_code, str(error.detail)))

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        return failed(error)
