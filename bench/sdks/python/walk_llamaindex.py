# /// script
# dependencies = ["llama-index-llms-openai-like==0.8.1", "llama-index-llms-anthropic==0.12.3", "anthropic<2", "llama-index-embeddings-openai==0.7.0"]
# ///
import openai
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai_like import OpenAILike

from checks import ASKED, HELLO, KEY, URL, WEATHER, WRONG_KEY, City, get_weather, refused, walk

SAID = [ChatMessage(role="user", content=HELLO)]


def of_openai(model, key=KEY):
    return OpenAILike(
        model=model,
        api_base=f"{URL}/v1",
        api_key=key,
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )


def of_anthropic(model):
    return Anthropic(model=model, base_url=URL, api_key=KEY, max_retries=0)


def chat(model):
    assert of_openai(model).chat(SAID).message.content


def stream(model):
    assert "".join(part.delta or "" for part in of_openai(model).stream_chat(SAID))


async def tools(model):
    assert WEATHER in str(await FunctionAgent(tools=[get_weather], llm=of_openai(model)).run(ASKED))


def structured(model):
    assert isinstance(of_openai(model).as_structured_llm(City).complete("Name a city").raw, City)


def anthropic_chat(model):
    assert of_anthropic(model).chat(SAID).message.content


def anthropic_stream(model):
    assert "".join(part.delta or "" for part in of_anthropic(model).stream_chat(SAID))


# The class takes no names but those of its own table.
anthropic_chat.models = anthropic_stream.models = ["claude-sonnet-5-5"]


def errors(model):
    refused(openai.AuthenticationError, lambda: of_openai(model, WRONG_KEY).chat(SAID), 401)


def embeddings(model):
    made = OpenAIEmbedding(model_name=model, api_base=f"{URL}/v1", api_key=KEY)
    assert len(made.get_text_embedding_batch(["a lighthouse", "a ship"])) == 2


walk(
    "llama-index-llms-openai-like",
    [chat, stream, tools, structured, anthropic_chat, anthropic_stream, errors],
    embeddings,
)
