"""What the Python walks share: where the service is, and a line for every check."""

import asyncio
import inspect
import json
import os
import traceback
from collections.abc import Callable
from importlib.metadata import version

from pydantic import BaseModel

URL = os.environ["LATCHKEY_URL"]
KEY = os.environ["LATCHKEY_KEY"]
MODELS = os.environ["LATCHKEY_MODELS"].split()
EMBEDDERS = json.loads(os.environ["LATCHKEY_EMBEDDERS"])
WRONG_KEY = "lk_wrong"

HELLO = "Hello"
ASKED = "What is the weather in Vienna?"
WEATHER = "sunny, 21 degrees"
WEATHER_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


class City(BaseModel):
    name: str
    inhabitants: int


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return WEATHER


def walk(package: str, checks: list[Callable], embeddings: Callable | None = None) -> None:
    print(json.dumps({"version": version(package)}), flush=True)
    for model in MODELS:
        for check in checks:
            if model in getattr(check, "models", MODELS):
                one(model, check, model)
        if embeddings is not None and model in EMBEDDERS:
            one(model, embeddings, EMBEDDERS[model])


def one(model: str, check: Callable, given: str) -> None:
    step = {"model": model, "check": check.__name__}
    try:
        told = check(given)
        if inspect.iscoroutine(told):
            asyncio.run(told)
        print(json.dumps({**step, "ok": True}), flush=True)
    except Exception as error:  # noqa: BLE001
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = str(error) or f"{last.name}: {last.line}"
        print(json.dumps({**step, "ok": False, "told": f"{type(error).__name__}: {words}"}), flush=True)


def refused(kind: type[BaseException], call: Callable, status: int | None = None) -> None:
    try:
        call()
    except kind as error:
        told = getattr(error, "status_code", None)
        assert status is None or told == status, f"refused with {told}, not {status}"
        return
    raise AssertionError("it was not refused")
