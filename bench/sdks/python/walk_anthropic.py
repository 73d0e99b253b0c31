# /// script
# dependencies = ["anthropic==2.12.0"]
# ///
from anthropic import Anthropic, AuthenticationError, BadRequestError, beta_tool

from checks import ASKED, HELLO, KEY, URL, WEATHER, WEATHER_SCHEMA, WRONG_KEY, City, get_weather, refused, walk

client = Anthropic(base_url=URL, api_key=KEY, max_retries=0)
TOOLS = [{"name": "get_weather", "description": "The weather of a city", "input_schema": WEATHER_SCHEMA}]


def user(text):
    return [{"role": "user", "content": text}]


def messages(model):
    said = client.messages.create(model=model, max_tokens=500, messages=user(HELLO))
    assert said.content[0].text and said.usage.output_tokens > 0


def stream(model):
    with client.messages.stream(model=model, max_tokens=500, messages=user(HELLO)) as events:
        text = "".join(events.text_stream)
        assert text and events.get_final_message().content[0].text == text


def tools(model):
    turns = user(ASKED)
    with client.messages.stream(model=model, max_tokens=500, messages=turns, tools=TOOLS) as events:
        said = events.get_final_message()
    assert said.stop_reason == "tool_use", said
    turns += [{"role": "assistant", "content": said.content}]
    calls = [block for block in said.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": WEATHER} for call in calls]
    turns += [{"role": "user", "content": results}]
    last = client.messages.create(model=model, max_tokens=500, messages=turns, tools=TOOLS)
    assert WEATHER in last.content[0].text, last


def tool_runner(model):
    runner = client.beta.messages.tool_runner(
        model=model, max_tokens=500, messages=user(ASKED), tools=[beta_tool(get_weather)]
    )
    assert WEATHER in runner.until_done().content[0].text


def parse(model):
    said = client.messages.parse(model=model, max_tokens=500, messages=user("Name a city"), output_format=City)
    assert isinstance(said.parsed_output, City), said


def count_tokens(model):
    assert client.messages.count_tokens(model=model, messages=user(HELLO)).input_tokens > 0


def errors(model):
    stranger = client.with_options(api_key=WRONG_KEY)
    refused(AuthenticationError, lambda: stranger.messages.create(model=model, max_tokens=9, messages=user(HELLO)), 401)
    refused(BadRequestError, lambda: client.messages.create(model=model, max_tokens=9, messages=[]), 400)


def models(model):
    assert model in [one.id for one in client.models.list()]


walk("anthropic", [messages, stream, tools, tool_runner, parse, count_tokens, errors, models])
