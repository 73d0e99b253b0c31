"""Each user's own documents: ingest, search, delete. Every query names the user first."""

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, Field

from ..database import connect
from ..retrieval import chunks, rank
from ..security import current_user_id

router = APIRouter(prefix="/api/documents", tags=["documents"])

with connect() as connection:
    connection.execute("create table if not exists chunks (user_id integer, document text, content text)")
    connection.execute("create index if not exists chunks_by_user on chunks (user_id, document)")


class Document(BaseModel):
    name: str = Field(min_length=1, max_length=200)
    content: str = Field(min_length=1)


def search(user_id: int, query: str, top: int = 5) -> list[tuple[float, str]]:
    with connect() as connection:
        rows = connection.execute("select content from chunks where user_id = ?", (user_id,)).fetchall()
    return rank(query, [row["content"] for row in rows], top)


@router.post("", status_code=201)
def ingest(body: Document, user_id: int = Depends(current_user_id)) -> dict[str, int]:
    pieces = chunks(body.content)
    with connect() as connection:
        connection.execute("delete from chunks where user_id = ? and document = ?", (user_id, body.name))
        connection.executemany("insert into chunks values (?, ?, ?)", [(user_id, body.name, piece) for piece in pieces])
    return {"chunks_created": len(pieces)}


@router.get("/search")
def find(query: str, user_id: int = Depends(current_user_id)) -> list[dict[str, float | str]]:
    return [{"score": score, "content": content} for score, content in search(user_id, query)]


@router.delete("/{name}")
def remove(name: str, user_id: int = Depends(current_user_id)) -> dict[str, str]:
    with connect() as connection:
        gone = connection.execute("delete from chunks where user_id = ? and document = ?", (user_id, name)).rowcount
    if gone == 0:
        raise HTTPException(404, "Document not found")
    return {"status": "deleted"}
