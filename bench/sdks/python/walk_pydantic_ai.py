# /// script
# dependencies = ["pydantic-ai-slim[openai,anthropic]==2.68.0"]
# ///
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from checks import ASKED, HELLO, KEY, URL, WEATHER, WRONG_KEY, City, get_weather, walk


def kinds(model, key=KEY):
    openai = OpenAIProvider(base_url=f"{URL}/v1", api_key=key)
    return {
        "responses": OpenAIResponsesModel(model, provider=openai),
        "chat": OpenAIChatModel(model, provider=openai),
        "anthropic": AnthropicModel(model, provider=AnthropicProvider(base_url=URL, api_key=key)),
    }


def check(kind, name, work):
    async def run(model):
        await work(kinds(model)[kind])

    run.__name__ = f"{kind}_{name}"
    return run


async def run(model):
    assert (await Agent(model).run(HELLO)).output


async def stream(model):
    async with Agent(model).run_stream(HELLO) as result:
        assert [part async for part in result.stream_text(delta=True)]


async def tools(model):
    assert WEATHER in (await Agent(model, tools=[get_weather]).run(ASKED)).output


async def output(model):
    assert isinstance((await Agent(model, output_type=City).run("Name a city")).output, City)


async def errors(model):
    for kind in kinds(model, WRONG_KEY).values():
        try:
            await Agent(kind).run(HELLO)
        except ModelHTTPError as error:
            assert error.status_code == 401, error
            continue
        raise AssertionError("it was not refused")


works = {"run": run, "stream": stream, "tools": tools, "output": output}
checks = [check(kind, name, work) for kind in ("responses", "chat", "anthropic") for name, work in works.items()]
walk("pydantic-ai-slim", [*checks, errors])
