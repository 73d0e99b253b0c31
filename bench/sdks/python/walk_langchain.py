# /// script
# dependencies = ["langchain-openai==1.7.3", "langchain-anthropic==1.7.7"]
# ///
import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from checks import ASKED, HELLO, KEY, URL, WEATHER, WRONG_KEY, City, get_weather, refused, walk


def of_openai(model, key=KEY, **more):
    return ChatOpenAI(model=model, base_url=f"{URL}/v1", api_key=key, max_retries=0, **more)


def of_anthropic(model, key=KEY):
    return ChatAnthropic(model=model, base_url=URL, api_key=key, max_tokens=500, max_retries=0)


def invoke(model):
    for chat in (of_openai(model), of_anthropic(model)):
        said = chat.invoke(HELLO)
        assert said.text and said.usage_metadata["total_tokens"] > 0, said


def stream(model):
    for chat in (of_openai(model), of_anthropic(model)):
        assert "".join(chunk.text for chunk in chat.stream(HELLO))


def openai_tools(model):
    loop(of_openai(model))


def openai_responses_tools(model):
    loop(of_openai(model, use_responses_api=True))


def anthropic_tools(model):
    loop(of_anthropic(model))


def loop(chat):
    bound = chat.bind_tools([tool(get_weather)])
    turns = [HumanMessage(ASKED)]
    said = bound.invoke(turns)
    turns += [said, *(ToolMessage(WEATHER, tool_call_id=call["id"]) for call in said.tool_calls)]
    assert WEATHER in "".join(chunk.text for chunk in bound.stream(turns))


def openai_structured(model):
    assert isinstance(of_openai(model).with_structured_output(City).invoke("Name a city"), City)


def anthropic_structured(model):
    assert isinstance(of_anthropic(model).with_structured_output(City).invoke("Name a city"), City)


def errors(model):
    refused(openai.AuthenticationError, lambda: of_openai(model, WRONG_KEY).invoke(HELLO), 401)
    refused(anthropic.AuthenticationError, lambda: of_anthropic(model, WRONG_KEY).invoke(HELLO), 401)


def embeddings(model):
    made = OpenAIEmbeddings(model=model, base_url=f"{URL}/v1", api_key=KEY, check_embedding_ctx_length=False)
    assert len(made.embed_documents(["a lighthouse", "a ship"])) == 2


every = [invoke, stream, openai_tools, openai_responses_tools, anthropic_tools, openai_structured, anthropic_structured]
walk("langchain-openai", [*every, errors], embeddings)
