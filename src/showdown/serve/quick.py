"""The short way for the paths that are asked most: FastAPI's layers take longer than many a decision.

Only a body that is as it should be goes this way. What is wrong with another one is for FastAPI to say.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from showdown.basics.errors import ShowdownError
from showdown.serve.answers import failed, problem, status_of
from showdown.serve.bodies import Body
from showdown.serve.strict_json import strict

ShortWay = Callable[[bytes], Awaitable[Response | None]]  # from a body to an answer; None where the body is wrong


def quick(kind: type[Body], handle: Callable[[Any], Awaitable[Body]]) -> ShortWay:
    """Answer bodies of this kind by `handle`."""

    async def answer(body: bytes) -> Response | None:
        try:
            asked = kind.model_validate(strict(body))
        except ValueError:
            return None
        try:
            made = await handle(asked)
        except ShowdownError as error:
            return problem(status_of(error), str(error))
        except Exception as error:
            logging.getLogger("uvicorn.error").exception("a request failed")
            return failed(error)
        return Response(made.model_dump_json(), media_type="application/json")

    return answer
