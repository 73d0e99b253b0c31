"""Calls /mcp with the protocol's official client for Python and with FastMCP's. Prints each step's result on a line."""

import asyncio
import json
import os
from importlib.metadata import version

from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

URL = os.environ["MCP_URL"]
API_KEY = os.environ["API_KEY"]


def with_key(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def python_client(key: str, mode: str):
    http = create_mcp_http_client(headers=with_key(key))
    return Client(streamable_http_client(URL, http_client=http), mode=mode)


def fast_client(key: str, mode: str):
    return FastClient(StreamableHttpTransport(URL, headers=with_key(key)), mode=mode)


def structured(result):
    """Returns a tool's result from either client, which checks it against the tool's schema."""
    told = result.structured_content
    if result.is_error:
        raise RuntimeError(result.content[0].text)
    return told


def must(fact: object, told: object) -> object:
    if not fact:
        raise RuntimeError(f"check failed: {told}")
    return told


def items(result, name: str):
    """FastMCP returns lists, the official client a page."""
    return result if isinstance(result, list) else getattr(result, name)


async def refused(work, *words: str) -> str:
    try:
        await work
    except BaseException as error:  # noqa: BLE001
        reason = told_by(error)
        must(any(word.lower() in reason.lower() for word in words), reason)
        return reason[:80]
    raise RuntimeError("the call was not rejected")


def told_by(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(told_by(one) for one in error.exceptions)
    return f"{type(error).__name__}: {error}"


async def walk(connect, name: str, mode: str) -> None:
    label = f"{name} {version(name)}"

    def say(step: str, told: object, ok: bool = True) -> None:
        print(json.dumps({"client": label, "mode": mode, "step": step, "told": told, "ok": ok}), flush=True)

    async def step(name: str, work) -> object:
        try:
            told = await work()
        except Exception as error:  # noqa: BLE001
            return say(name, told_by(error), False)
        say(name, told)
        return told

    async def enter(key: str) -> None:
        async with connect(key, mode) as client:
            await client.list_tools()

    async with connect(API_KEY, mode) as client:
        protocol = client.protocol_version
        say("connect", protocol)
        text = f"The lighthouse of {label}, {protocol}, was built by Amélie Duroc in 1882."
        place = {"place": f"{label} {mode}"}

        async def tool(name: str, given: dict):
            return structured(await client.call_tool(name, given))

        async def ingest():
            return (await tool("ingest", {"content": text, "metadata": {"title": "Lighthouse", **place}}))["document_id"]

        async def search():
            found = (await tool("search", {"query": "Who built the lighthouse?", "filter": place}))["results"]
            return must(len(found) == 1 and found[0]["document_id"] == stored, found[0]["title"])

        async def fetch():
            return must((await tool("fetch", {"id": f"{stored}_0"}))["text"] == text, "whole")

        async def ask():
            return must("Duroc" in (await tool("ask", {"question": text}))["answer"], "Duroc")

        async def listed():
            return must(len((await tool("list_documents", {"limit": 1}))["documents"]) == 1, 1)

        async def resources():
            found = items(await client.list_resources(), "resources")
            return must(any(str(one.uri) == uri for one in found), len(found))

        async def templates():
            found = items(await client.list_resource_templates(), "resource_templates")
            return found[0].uri_template

        async def read():
            found = items(await client.read_resource(uri), "contents")
            return must(found[0].text == text, found[0].mime_type)

        async def wrong_argument():
            if name == "fastmcp":
                return await refused(client.call_tool("fetch", {}), "Field required")
            result = await client.call_tool("fetch", {})
            return must(result.is_error, result.content[0].text)

        async def tools():
            return len(items(await client.list_tools(), "tools"))

        async def deleted():
            return (await tool("delete_document", {"id": stored}))["deleted"]

        await step("list tools", tools)
        stored = await step("ingest", ingest)
        uri = f"rag://documents/{stored}"
        await step("search", search)
        await step("fetch", fetch)
        await step("ask", ask)
        await step("list_documents", listed)
        await step("list resources", resources)
        await step("templates", templates)
        await step("read resource", read)
        await step("unknown resource", lambda: refused(client.read_resource("rag://documents/none"), "not found"))
        await step("unknown tool", lambda: refused(client.call_tool("nothing", {}), "Unknown tool"))
        await step("wrong argument", wrong_argument)
        await step("delete_document", deleted)
    await step("wrong key", lambda: refused(enter("lk_nonsense"), "401", "error response"))


async def main() -> None:
    for connect, name in ((python_client, "mcp"), (fast_client, "fastmcp")):
        for mode in ("auto", "legacy"):
            try:
                await walk(connect, name, mode)
            except BaseException as error:  # noqa: BLE001
                line = {"client": f"{name} {version(name)}", "mode": mode, "step": "all", "told": told_by(error), "ok": False}
                print(json.dumps(line), flush=True)


asyncio.run(main())
