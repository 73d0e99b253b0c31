# /// script
# dependencies = ["openai-agents==0.24.0"]
# ///
import openai
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled

from checks import ASKED, HELLO, KEY, URL, WEATHER, WRONG_KEY, City, get_weather, walk

set_tracing_disabled(True)


def agent(model, kind=OpenAIResponsesModel, key=KEY, **more):
    client = openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0)
    return Agent(name="weather", instructions="Be short.", model=kind(model, client), **more)


async def run(model):
    assert (await Runner.run(agent(model), HELLO)).final_output


async def tools(model):
    assert WEATHER in (await Runner.run(agent(model, tools=[function_tool(get_weather)]), ASKED)).final_output


async def streamed_tools(model):
    result = Runner.run_streamed(agent(model, tools=[function_tool(get_weather)]), ASKED)
    assert [event async for event in result.stream_events()]
    assert WEATHER in result.final_output


async def chat_tools(model):
    of_chat = agent(model, OpenAIChatCompletionsModel, tools=[function_tool(get_weather)])
    assert WEATHER in (await Runner.run(of_chat, ASKED)).final_output


async def output(model):
    assert isinstance((await Runner.run(agent(model, output_type=City), "Name a city")).final_output, City)


async def errors(model):
    try:
        await Runner.run(agent(model, key=WRONG_KEY), HELLO)
    except openai.AuthenticationError:
        return
    raise AssertionError("it was not refused")


walk("openai-agents", [run, tools, streamed_tools, chat_tools, output, errors])
