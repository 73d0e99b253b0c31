# /// script
# dependencies = ["instructor==1.17.0", "anthropic==2.12.0"]
# ///
import anthropic
import instructor
import openai
from instructor import Mode

from checks import KEY, URL, WRONG_KEY, City, refused, walk

ASKED = [{"role": "user", "content": "Name a city"}]


def of_openai(mode, key=KEY):
    return instructor.from_openai(openai.OpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0), mode=mode)


def made(client, model, **more):
    city = client.chat.completions.create(
        model=model, messages=ASKED, response_model=City, max_retries=0, **more
    )
    assert isinstance(city, City)


def tools(model):
    made(of_openai(Mode.TOOLS), model)


def json_schema(model):
    made(of_openai(Mode.JSON_SCHEMA), model)


def responses_tools(model):
    made(of_openai(Mode.RESPONSES_TOOLS), model)


def anthropic_tools(model):
    client = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
    made(instructor.from_anthropic(client), model, max_tokens=500)


def partial(model):
    parts = of_openai(Mode.TOOLS).chat.completions.create_partial(model=model, messages=ASKED, response_model=City)
    assert list(parts)[-1].name


def errors(model):
    refused(Exception, lambda: made(of_openai(Mode.TOOLS, WRONG_KEY), model))


walk("instructor", [tools, json_schema, responses_tools, anthropic_tools, partial, errors])
