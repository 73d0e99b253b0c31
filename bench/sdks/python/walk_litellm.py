# /// script
# dependencies = ["litellm[mcp]==1.106.2"]
# ///
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm

from checks import ASKED, HELLO, KEY, URL, WEATHER, WEATHER_SCHEMA, WRONG_KEY, City, refused, walk

litellm.suppress_debug_info = True
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER_SCHEMA}}]
OPENAI = {"api_base": f"{URL}/v1", "api_key": KEY, "max_retries": 0}
ANTHROPIC = {"api_base": URL, "api_key": KEY, "max_tokens": 500, "max_retries": 0}


def user(text):
    return [{"role": "user", "content": text}]


def chat(name, given):
    said = litellm.completion(model=name, messages=user(HELLO), **given)
    assert said.choices[0].message.content and said.usage.total_tokens > 0


def stream(name, given):
    parts = litellm.completion(model=name, messages=user(HELLO), stream=True, **given)
    assert "".join(part.choices[0].delta.content or "" for part in parts)


def tools(name, given):
    turns = user(ASKED)
    said = litellm.completion(model=name, messages=turns, tools=TOOLS, **given).choices[0].message
    turns += [said.model_dump(exclude_none=True)]
    turns += [{"role": "tool", "tool_call_id": call.id, "content": WEATHER} for call in said.tool_calls]
    assert WEATHER in litellm.completion(model=name, messages=turns, tools=TOOLS, **given).choices[0].message.content


def structured(name, given):
    said = litellm.completion(model=name, messages=user("Name a city"), response_format=City, **given)
    assert City.model_validate_json(said.choices[0].message.content)


def errors(name, given):
    given = {**given, "api_key": WRONG_KEY}
    refused(litellm.AuthenticationError, lambda: litellm.completion(model=name, messages=user(HELLO), **given), 401)


def check(prefix, work, given):
    def run(model):
        work(f"{prefix}/{model}", given)

    run.__name__ = f"{prefix}_{work.__name__}"
    return run


def responses(model):
    assert litellm.responses(model=f"openai/{model}", input=HELLO, **OPENAI).output


def embeddings(model):
    made = litellm.embedding(model=f"openai/{model}", input=["a lighthouse", "a ship"], **OPENAI)
    assert len(made.data) == 2


works = [chat, stream, tools, structured, errors]
of_openai = [check("openai", work, OPENAI) for work in works]
walk("litellm", [*of_openai, responses, *(check("anthropic", work, ANTHROPIC) for work in works)], embeddings)
