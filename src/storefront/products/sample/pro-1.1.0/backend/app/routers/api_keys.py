"""API keys: shown once, stored as a hash, revoked rather than deleted."""

import hashlib
import secrets

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, Field

from ..database import connect
from ..security import current_user_id

router = APIRouter(prefix="/api/api-keys", tags=["api keys"])

with connect() as connection:
    connection.execute(
        "create table if not exists api_keys (id integer primary key, user_id integer not null, name text not null,"
        " prefix text not null, hash text not null unique, is_active integer not null default 1)"
    )


class NewKey(BaseModel):
    name: str = Field(min_length=1, max_length=100)


def hash_of(key: str) -> str:
    """The key is random, so a plain hash is enough: there is nothing to guess."""
    return hashlib.sha256(key.encode()).hexdigest()


def user_of_key(key: str) -> int | None:
    with connect() as connection:
        row = connection.execute(
            "select user_id from api_keys where hash = ? and is_active = 1", (hash_of(key),)
        ).fetchone()
    return row["user_id"] if row else None


@router.post("", status_code=201)
def create(body: NewKey, user_id: int = Depends(current_user_id)) -> dict[str, str]:
    key = f"kit_{secrets.token_urlsafe(24)}"
    with connect() as connection:
        connection.execute(
            "insert into api_keys (user_id, name, prefix, hash) values (?, ?, ?, ?)",
            (user_id, body.name, key[:12], hash_of(key)),
        )
    return {"name": body.name, "key": key}


@router.get("")
def listing(user_id: int = Depends(current_user_id)) -> list[dict[str, str | int]]:
    with connect() as connection:
        rows = connection.execute(
            "select id, name, prefix, is_active from api_keys where user_id = ? order by id desc", (user_id,)
        ).fetchall()
    return [dict(row) for row in rows]


@router.delete("/{key_id}")
def revoke(key_id: int, user_id: int = Depends(current_user_id)) -> dict[str, str]:
    with connect() as connection:
        changed = connection.execute(
            "update api_keys set is_active = 0 where id = ? and user_id = ?", (key_id, user_id)
        ).rowcount
    if changed == 0:
        raise HTTPException(404, "API key not found")
    return {"message": "API key revoked"}
