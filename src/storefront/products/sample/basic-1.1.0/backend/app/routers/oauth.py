"""Sign-in with Google or GitHub: the authorization code flow with PKCE. Configure <NAME>_CLIENT_ID and <NAME>_CLIENT_SECRET."""

import base64
import hashlib
import os
import secrets

import httpx
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse

from ..database import connect
from ..security import issue_token

router = APIRouter(prefix="/api/auth/oauth", tags=["oauth"])
PROVIDERS = {
    "google": {
        "authorize": "https://accounts.google.com/o/oauth2/v2/auth",
        "token": "https://oauth2.googleapis.com/token",
        "emails": "https://openidconnect.googleapis.com/v1/userinfo",
        "scope": "openid email",
    },
    "github": {
        "authorize": "https://github.com/login/oauth/authorize",
        "token": "https://github.com/login/oauth/access_token",
        "emails": "https://api.github.com/user/emails",
        "scope": "user:email",
    },
}


def settings(name: str) -> dict[str, str]:
    client_id = os.environ.get(f"{name.upper()}_CLIENT_ID", "")
    if name not in PROVIDERS or not client_id:
        raise HTTPException(404, "Unknown provider")
    return {**PROVIDERS[name], "id": client_id, "secret": os.environ[f"{name.upper()}_CLIENT_SECRET"]}


def verified_email(body: dict | list) -> str | None:
    """Google sends one profile, GitHub a list of addresses; an unverified address is no proof of anything."""
    if isinstance(body, dict):
        return body.get("email") if body.get("email_verified") else None
    return next((item["email"] for item in body if item["primary"] and item["verified"]), None)


@router.get("/{name}")
def start(name: str, request: Request) -> RedirectResponse:
    provider = settings(name)
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = httpx.QueryParams(
        client_id=provider["id"],
        redirect_uri=str(request.url_for("finish", name=name)),
        response_type="code",
        scope=provider["scope"],
        state=state,
        code_challenge=challenge,
        code_challenge_method="S256",
    )
    reply = RedirectResponse(f"{provider['authorize']}?{query}")
    reply.set_cookie("oauth", f"{state}.{verifier}", max_age=600, httponly=True, samesite="lax")
    return reply


@router.get("/{name}/callback")
def finish(name: str, code: str, state: str, request: Request) -> RedirectResponse:
    provider = settings(name)
    known, _, verifier = request.cookies.get("oauth", "").partition(".")
    if not known or not secrets.compare_digest(known, state):
        raise HTTPException(400, "Please start again")
    form = {
        "client_id": provider["id"],
        "client_secret": provider["secret"],
        "code": code,
        "code_verifier": verifier,
        "grant_type": "authorization_code",
        "redirect_uri": str(request.url_for("finish", name=name)),
    }
    token = httpx.post(provider["token"], data=form, headers={"Accept": "application/json"}).raise_for_status().json()
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    email = verified_email(httpx.get(provider["emails"], headers=headers).raise_for_status().json())
    if email is None:
        raise HTTPException(403, "This address is not verified")
    with connect() as connection:
        connection.execute("insert into users (email) values (?) on conflict do nothing", (email,))
        user = connection.execute("select id from users where email = ?", (email,)).fetchone()
    # The fragment never reaches a server's log.
    site = os.environ.get("FRONTEND_URL", "http://localhost:3000")
    return RedirectResponse(f"{site}/#token={issue_token(user['id'])}")
