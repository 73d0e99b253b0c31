"""Sends the requests that Open Responses asks a server for and checks each answer with its published types.

Prints one JSON line for each check: {"name": ..., "errors": [...]}. An empty list means that the check passed.
"""

import json
import os

import httpx
import openresponses_types.types as types
from pydantic import ValidationError

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Current weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def user(content):
    return {"type": "message", "role": "user", "content": content}


ASK_WEATHER = [user("What is the weather in Oslo?")]
CASES = [
    ("text", {"input": [user("Say hello in three words.")]}, "message"),
    ("text, streamed", {"input": [user("Count from 1 to 5.")], "stream": True}, "message"),
    (
        "system message",
        {"input": [{"type": "message", "role": "system", "content": "Answer in verse."}, user("Say hello.")]},
        "message",
    ),
    ("tool call", {"input": ASK_WEATHER, "tools": [WEATHER], "tool_choice": "required"}, "function_call"),
    (
        "tool call, streamed",
        {"input": ASK_WEATHER, "tools": [WEATHER], "tool_choice": "required", "stream": True},
        "function_call",
    ),
    (
        "image",
        {
            "input": [
                user(
                    [
                        {"type": "input_text", "text": "What is in this picture?"},
                        {"type": "input_image", "image_url": PIXEL},
                    ]
                )
            ]
        },
        "message",
    ),
    (
        "conversation",
        {
            "input": [
                user("My name is Ada."),
                {"type": "message", "role": "assistant", "content": "Hello Ada."},
                user("What is my name?"),
            ]
        },
        "message",
    ),
]


def event_types():
    """Maps each event's `type` to the class that describes it. Each class names its one type in an enum."""
    models = [getattr(types, name) for name in dir(types) if name.endswith("StreamingEvent")]
    return {member.value: model for model in models for member in model.model_fields["type"].annotation}


EVENTS = event_types()


def errors_of(model, value, at):
    try:
        model.model_validate(value)
        return []
    except ValidationError as error:
        return [f"{at}.{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]


def check(client, body, output_type):
    answer = client.post("/responses", json={"model": os.environ["MODEL"], **body})
    if answer.status_code != 200:
        return [f"HTTP {answer.status_code}: {answer.text[:300]}"]
    errors = []
    if body.get("stream"):
        events = [
            json.loads(line[6:])
            for line in answer.text.splitlines()
            if line.startswith("data: ") and line != "data: [DONE]"
        ]
        for event in events:
            model = EVENTS.get(event["type"])
            errors += (
                errors_of(model, event, event["type"]) if model else [f"{event['type']}: not an event of the standard"]
            )
        response = next((event["response"] for event in events if event["type"] == "response.completed"), None)
        if response is None:
            return [*errors, "the stream has no response.completed"]
    else:
        response = answer.json()
    errors += errors_of(types.ResponseResource, response, "response")
    if response["status"] != "completed":
        errors.append(f"status is {response['status']}")
    if not any(item["type"] == output_type for item in response["output"]):
        errors.append(f"no item of type {output_type}")
    return errors


with httpx.Client(
    base_url=os.environ["BASE_URL"], headers={"authorization": f"Bearer {os.environ['API_KEY']}"}, timeout=60
) as client:
    for name, body, output_type in CASES:
        print(json.dumps({"name": name, "errors": check(client, body, output_type)}), flush=True)
