"""The admin dashboard's numbers and users, for the addresses in ADMIN_EMAILS."""

import os

from fastapi import APIRouter, Depends, HTTPException, Query

from ..database import connect
from ..security import current_user_id


def admin_only(user_id: int = Depends(current_user_id)) -> None:
    admins = {email.strip().lower() for email in os.environ.get("ADMIN_EMAILS", "").split(",") if email.strip()}
    with connect() as connection:
        user = connection.execute("select email from users where id = ?", (user_id,)).fetchone()
    if user is None or user["email"].lower() not in admins:
        raise HTTPException(403, "Not enough permissions")


router = APIRouter(prefix="/api/admin", tags=["admin"], dependencies=[Depends(admin_only)])


@router.get("/stats")
def stats() -> dict[str, int]:
    with connect() as connection:
        row = connection.execute(
            "select count(*) as total_users, count(*) filter (where tier <> 'free') as paying_users,"
            " count(*) filter (where created_at > datetime('now', '-7 days')) as new_users_7d from users"
        ).fetchone()
    return dict(row)


@router.get("/users")
def users(page: int = Query(1, ge=1), limit: int = Query(20, ge=1, le=100)) -> list[dict[str, str | int]]:
    with connect() as connection:
        rows = connection.execute(
            "select id, email, tier, created_at from users order by id desc limit ? offset ?",
            (limit, (page - 1) * limit),
        ).fetchall()
    return [dict(row) for row in rows]
