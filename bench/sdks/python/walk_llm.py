# /// script
# dependencies = ["llm==0.36"]
# ///
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import KEY, MODELS, URL, WRONG_KEY, City, walk

HOME = Path(tempfile.mkdtemp())
LISTED = [
    {"model_id": model, "model_name": model, "api_base": f"{URL}/v1", "api_key_name": "latchkey", "supports_tools": True, "supports_schema": True}
    for model in MODELS
]
# JSON is YAML.
(HOME / "extra-openai-models.yaml").write_text(json.dumps(LISTED))
FUNCTION = 'def get_weather(city: str) -> str:\n    "Tells the weather of a city."\n    return "sunny, 21 degrees"\n'


def llm(*args, key=KEY):
    env = {**os.environ, "LLM_USER_PATH": str(HOME)}
    words = [sys.executable, "-m", "llm", "prompt", "--key", key, *args]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def stream(model):
    assert llm("-m", model, "Hello").strip()


def whole(model):
    assert llm("-m", model, "--no-stream", "Hello").strip()


def tools(model):
    assert "sunny" in llm("-m", model, "--functions", FUNCTION, "What is the weather in Vienna?")


def schema(model):
    assert City.model_validate_json(llm("-m", model, "--schema", "name, inhabitants int", "Name a city"))


def errors(model):
    try:
        llm("-m", model, "Hello", key=WRONG_KEY)
    except RuntimeError as error:
        assert "401" in str(error) or "key" in str(error).lower(), error
        return
    raise AssertionError("it was not refused")


walk("llm", [stream, whole, tools, schema, errors])
