"""Passwords are hashed with Argon2id; access tokens live 30 minutes."""

import os
from datetime import UTC, datetime, timedelta

import jwt
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from fastapi import Depends, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

ACCESS_LIFETIME = timedelta(minutes=30)
hasher = PasswordHasher()
bearer = HTTPBearer(auto_error=False)


def hash_password(password: str) -> str:
    return hasher.hash(password)


def password_matches(password_hash: str, password: str) -> bool:
    try:
        return hasher.verify(password_hash, password)
    except VerifyMismatchError:
        return False


def issue_token(user_id: int) -> str:
    claims = {"sub": str(user_id), "exp": datetime.now(UTC) + ACCESS_LIFETIME}
    return jwt.encode(claims, os.environ["SECRET_KEY"], algorithm="HS256")


def current_user_id(credentials: HTTPAuthorizationCredentials | None = Depends(bearer)) -> int:
    try:
        token = credentials.credentials if credentials else ""
        return int(jwt.decode(token, os.environ["SECRET_KEY"], algorithms=["HS256"])["sub"])
    except jwt.PyJWTError as error:
        raise HTTPException(401, "Could not validate credentials", {"WWW-Authenticate": "Bearer"}) from error
