"""Registration, login and the caller's own profile."""

import sqlite3

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, Field

from ..database import connect
from ..security import current_user_id, hash_password, issue_token, password_matches

router = APIRouter(prefix="/api/auth", tags=["accounts"])

# Checked for unknown addresses too, so that the answer takes as long as for a known one.
NOBODY = hash_password("nobody's password")


class Credentials(BaseModel):
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+$", max_length=254)
    password: str = Field(min_length=8, max_length=128)


@router.post("/register", status_code=201)
def register(body: Credentials) -> dict[str, str]:
    try:
        with connect() as connection:
            row = connection.execute(
                "insert into users (email, password_hash) values (?, ?) returning id",
                (body.email, hash_password(body.password)),
            ).fetchone()
    except sqlite3.IntegrityError as error:
        raise HTTPException(400, "Email already registered") from error
    return {"access_token": issue_token(row["id"]), "token_type": "bearer"}


@router.post("/login")
def login(body: Credentials) -> dict[str, str]:
    with connect() as connection:
        user = connection.execute("select id, password_hash from users where email = ?", (body.email,)).fetchone()
    stored = user["password_hash"] if user and user["password_hash"] else NOBODY
    if not password_matches(stored, body.password) or stored is NOBODY:
        raise HTTPException(401, "Incorrect email or password")
    return {"access_token": issue_token(user["id"]), "token_type": "bearer"}


@router.get("/me")
def me(user_id: int = Depends(current_user_id)) -> dict[str, str | int]:
    with connect() as connection:
        user = connection.execute("select id, email, tier, created_at from users where id = ?", (user_id,)).fetchone()
    if user is None:
        raise HTTPException(401, "Could not validate credentials")
    return dict(user)
