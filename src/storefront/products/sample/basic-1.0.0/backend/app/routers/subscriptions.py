"""The payment processor's webhook. An event's id is stored first, so the same event twice changes nothing twice."""

import hashlib
import hmac
import json
import os
import time

from fastapi import APIRouter, HTTPException, Request

from ..database import connect

router = APIRouter(prefix="/api/billing", tags=["subscriptions"])
TOLERANCE_SECONDS = 300


def signature_is_valid(header: str, body: bytes, secret: str) -> bool:
    """`t=<time>,v1=<hex>`: HMAC-SHA256 of `<time>.<body>`."""
    pairs = [part.split("=", 1) for part in header.split(",") if "=" in part]
    stamps = [value for name, value in pairs if name == "t" and value.isdigit()]
    if not secret or not stamps or abs(time.time() - int(stamps[0])) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), f"{stamps[0]}.".encode() + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(expected, value) for name, value in pairs if name == "v1")


@router.post("/webhook")
async def webhook(request: Request) -> dict[str, bool]:
    body = await request.body()
    secret = os.environ.get("PROCESSOR_WEBHOOK_SECRET", "")
    if not signature_is_valid(request.headers.get("processor-signature", ""), body, secret):
        raise HTTPException(400, "Invalid signature")

    event = json.loads(body)
    with connect() as connection:
        known = connection.execute(
            "insert into processor_events (id) values (?) on conflict do nothing returning id", (event["id"],)
        ).fetchone()
        email = event["data"]["object"].get("customer_email")
        tier = {"checkout.session.completed": "pro", "customer.subscription.deleted": "free"}.get(event["type"])
        if known and email and tier:
            connection.execute("update users set tier = ? where email = ?", (tier, email))
    return {"received": True}
