# /// script
# dependencies = ["openai==3.54.0"]
# ///
from openai import AuthenticationError, BadRequestError, OpenAI
from openai.types.responses import ResponseFunctionToolCall

from checks import ASKED, HELLO, KEY, URL, WEATHER, WEATHER_SCHEMA, WRONG_KEY, City, refused, walk

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
FUNCTION = {"name": "get_weather", "description": "The weather of a city", "parameters": WEATHER_SCHEMA, "strict": True}
CHAT_TOOLS = [{"type": "function", "function": FUNCTION}]
TOOLS = [{"type": "function", **FUNCTION}]


def chat(model):
    said = client.chat.completions.create(model=model, messages=[{"role": "user", "content": HELLO}])
    assert said.choices[0].message.content and said.usage.total_tokens > 0


def chat_stream(model):
    stream = client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": HELLO}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert chunks[-1].usage.total_tokens > 0


def chat_tools(model):
    messages = [{"role": "user", "content": ASKED}]
    with client.chat.completions.stream(model=model, messages=messages, tools=CHAT_TOOLS) as stream:
        said = stream.get_final_completion().choices[0].message
    messages += [said.model_dump(exclude_none=True, exclude={"parsed"})]
    messages += [{"role": "tool", "tool_call_id": call.id, "content": WEATHER} for call in said.tool_calls]
    last = client.chat.completions.create(model=model, messages=messages, tools=CHAT_TOOLS)
    assert WEATHER in last.choices[0].message.content, last


def chat_parse(model):
    said = client.chat.completions.parse(
        model=model, messages=[{"role": "user", "content": "Name a city"}], response_format=City
    )
    assert isinstance(said.choices[0].message.parsed, City)


def responses(model):
    said = client.responses.create(model=model, input=HELLO)
    assert said.output_text and said.usage.total_tokens > 0


def responses_stream(model):
    with client.responses.stream(model=model, input=HELLO, instructions="Be short.") as stream:
        kinds = [event.type for event in stream]
        said = stream.get_final_response()
    assert kinds[-1] == "response.completed" and said.output_text, kinds


def responses_tools(model):
    items = [{"role": "user", "content": ASKED}]
    with client.responses.stream(model=model, input=items, tools=TOOLS) as stream:
        said = stream.get_final_response()
    calls = [item for item in said.output if isinstance(item, ResponseFunctionToolCall)]
    items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in said.output]
    items += [{"type": "function_call_output", "call_id": call.call_id, "output": WEATHER} for call in calls]
    assert WEATHER in client.responses.create(model=model, input=items, tools=TOOLS).output_text


def responses_parse(model):
    assert isinstance(client.responses.parse(model=model, input="A city", text_format=City).output_parsed, City)


def errors(model):
    stranger = client.with_options(api_key=WRONG_KEY)
    message = {"role": "user", "content": HELLO}
    refused(AuthenticationError, lambda: stranger.chat.completions.create(model=model, messages=[message]), 401)
    refused(AuthenticationError, lambda: stranger.responses.create(model=model, input=HELLO), 401)
    refused(BadRequestError, lambda: client.chat.completions.create(model=model, messages=[]), 400)


def models(model):
    assert model in [one.id for one in client.models.list()]


def embeddings(model):
    made = client.embeddings.create(model=model, input=["a lighthouse", "a ship"])
    assert len(made.data) == 2 and len(made.data[0].embedding) > 100


every = [chat, chat_stream, chat_tools, chat_parse, responses, responses_stream, responses_tools, responses_parse]
walk("openai", [*every, errors, models], embeddings)
