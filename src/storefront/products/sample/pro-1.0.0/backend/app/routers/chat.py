"""Chat over the caller's documents, streamed from any OpenAI-compatible vendor."""

import json
import os
from collections.abc import AsyncIterator

import httpx
from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from ..security import current_user_id
from .documents import search

router = APIRouter(prefix="/api/chat", tags=["chat"])


class Question(BaseModel):
    question: str


async def tokens(question: str, sources: list[str]) -> AsyncIterator[str]:
    context = "\n\n".join(sources) or "(no matching documents)"
    body = {
        "model": os.environ.get("MODEL_NAME", "llama3.2"),
        "stream": True,
        "messages": [
            {"role": "system", "content": f"Answer from these passages only. Say so when they do not help.\n\n{context}"},
            {"role": "user", "content": question},
        ],
    }
    headers = {"Authorization": f"Bearer {os.environ.get('MODEL_KEY', 'none')}"}
    url = os.environ.get("MODEL_URL", "http://localhost:11434/v1") + "/chat/completions"
    finished = False
    async with httpx.AsyncClient(timeout=60) as client, client.stream("POST", url, json=body, headers=headers) as reply:
        reply.raise_for_status()
        async for line in reply.aiter_lines():
            if line == "data: [DONE]":
                finished = True
            elif line.startswith("data: "):
                choices = json.loads(line[6:]).get("choices") or [{}]
                if piece := choices[0].get("delta", {}).get("content"):
                    yield f"data: {json.dumps({'token': piece})}\n\n"
    # Without this mark the reader knows that the answer was cut.
    if finished:
        yield "data: [DONE]\n\n"


@router.post("")
async def chat(body: Question, user_id: int = Depends(current_user_id)) -> StreamingResponse:
    sources = [content for _, content in search(user_id, body.question)]
    return StreamingResponse(tokens(body.question, sources), media_type="text/event-stream")
