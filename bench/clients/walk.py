"""Calls every row of the specification through the clients of openapi-python-client. Prints each reply on a line."""

import hashlib
import hmac
import json
import os
import time
import uuid
from io import BytesIO
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
from api_client import AuthenticatedClient, Client
from api_client.api.admin import get_stats, list_users, update_user
from api_client.api.ai import chat, complete_prompt
from api_client.api.api_keys import create_api_key, list_api_keys, change_api_key, revoke_api_key
from api_client.api.auth import (
    finish_oauth,
    get_current_user,
    log_in,
    log_out,
    refresh_tokens,
    register_user,
    request_password_reset,
    resend_verification,
    reset_password,
    start_oauth,
    verify_email,
    verify_reset_token,
)
from api_client.api.billing import (
    create_checkout_session,
    create_portal_session,
    get_subscription,
    list_plans,
    receive_billing_event,
)
from api_client.api.rag import delete_document, ingest_file, ingest_text, query_documents, search_chunks
from api_client.api.users import (
    change_email,
    change_password,
    delete_account,
    export_account,
    get_profile,
    update_profile,
)
from api_client.models import (
    AiError,
    ChangeEmailRequest,
    ChangePasswordRequest,
    ChatMessage,
    ChatRequest,
    CompletePromptRequest,
    CreateApiKeyRequest,
    DeleteAccountRequest,
    IngestFileRequest,
    IngestTextRequest,
    JsonObject,
    LogInRequest,
    OneTimeToken,
    ProcessorEvent,
    QueryDocumentsRequest,
    RefreshTokensRequest,
    RegisterUserRequest,
    RequestPasswordResetRequest,
    ResendVerificationRequest,
    ResetPasswordRequest,
    SearchChunksRequest,
    UpdateProfileRequest,
    UpdateUserRequest,
)
from api_client.types import File
from storefront_client import Client as StorefrontClient
from storefront_client.api.checkout import receive_payment_event, start_checkout
from storefront_client.api.contact import send_contact_message
from storefront_client.api.downloads import download_archive, list_downloads
from storefront_client.api.session import create_session
from storefront_client.models import ContactMessage, CreateSessionRequest
from storefront_client.models import ProcessorEvent as PaymentEvent

API_URL = os.environ["API_URL"]
STOREFRONT_URL = os.environ["STOREFRONT_URL"]
PASSWORD = "a long enough password"
EMAIL = f"python-{time.time_ns()}@example.com"
STORY = "The lighthouse was built by Amélie Duroc in 1882."


def report(server: str):
    def say(response: httpx.Response) -> None:
        request = response.request
        line = {"server": server, "method": request.method, "path": request.url.path, "status": response.status_code}
        print(json.dumps(line))

    return {"event_hooks": {"response": [say]}}


def api_as(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=API_URL, token=token, httpx_args=report(API_URL))


def ok(response):
    """Returns the parsed reply; exits with the error of a failed one."""
    if response.status_code >= 400:
        raise SystemExit(f"{int(response.status_code)}: {response.parsed}")
    return response.parsed


def said(fact: object, what: str) -> None:
    if not fact:
        raise SystemExit(f"check failed: {what}")


def mailed_token(page: str) -> str:
    for _ in range(50):
        for letter in httpx.get(f"{API_URL}/sandbox/mail.json", params={"to": EMAIL}).json():
            for link in letter["links"]:
                if page in link:
                    return parse_qs(urlsplit(link).query)["token"][0]
        time.sleep(0.2)
    raise SystemExit(f"no email links to {page}")


def choose_account(address: str) -> dict[str, str]:
    """Chooses an account on the provider's page."""
    asked = urlsplit(address)
    form = {**dict(parse_qsl(asked.query)), "email": f"olga-{EMAIL}", "name": "Olga", "verified": "yes"}
    reply = httpx.post(f"{API_URL}{asked.path}", data=form)
    back = dict(parse_qsl(urlsplit(reply.headers["location"]).query))
    return {name: back[name] for name in ("code", "state", "iss") if name in back}


def event(kind: str, thing: dict[str, object]) -> dict[str, object]:
    return {"id": f"evt_{uuid.uuid4()}", "type": kind, "data": {"object": thing}}


def signature(body: dict[str, object], secret: str) -> str:
    """Signs the bytes that httpx sends."""
    now = int(time.time())
    payload = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return f"t={now},v1={hmac.new(secret.encode(), f'{now}.{payload}'.encode(), hashlib.sha256).hexdigest()}"


def accounts(anyone: Client) -> tuple[AuthenticatedClient, str]:
    body = RegisterUserRequest(email=EMAIL, password=PASSWORD, full_name="Ada")
    user = ok(register_user.sync_detailed(client=anyone, body=body))
    ok(verify_email.sync_detailed(client=anyone, body=OneTimeToken(token=mailed_token("/verify-email"))))
    ok(resend_verification.sync_detailed(client=anyone, body=ResendVerificationRequest(email=EMAIL)))
    ok(request_password_reset.sync_detailed(client=anyone, body=RequestPasswordResetRequest(email=EMAIL)))
    token = mailed_token("/reset-password")
    said(ok(verify_reset_token.sync_detailed(client=anyone, body=OneTimeToken(token=token))).valid, "the token is valid")
    ok(reset_password.sync_detailed(client=anyone, body=ResetPasswordRequest(token=token, new_password=PASSWORD)))
    signed_in = ok(log_in.sync_detailed(client=anyone, body=LogInRequest(email=EMAIL, password=PASSWORD)))
    body = RefreshTokensRequest(refresh_token=signed_in.refresh_token)
    ada = api_as(ok(refresh_tokens.sync_detailed(client=anyone, body=body)).access_token)
    ok(log_out.sync_detailed(client=ada))
    said(ok(get_current_user.sync_detailed(client=ada)).email == EMAIL, "Ada is signed in")

    started = ok(start_oauth.sync_detailed("google", client=anyone))
    finished = finish_oauth.sync_detailed("google", client=anyone, **choose_account(started.authorization_url))
    said("access_token=" in finished.headers["location"], f"the callback leads to the app with tokens: {finished.headers['location']}")

    said(ok(get_profile.sync_detailed(client=ada)).created_at.year >= 2026, "times are times")
    ok(update_profile.sync_detailed(client=ada, body=UpdateProfileRequest(full_name="Ada King", avatar_url=None)))
    said(ok(export_account.sync_detailed(client=ada)).exported_at, "the export has its time")
    return ada, user.id


def billing(anyone: Client, ada: AuthenticatedClient) -> None:
    plans = ok(list_plans.sync_detailed(client=anyone)).plans
    price = next(plan.price_monthly for plan in plans if plan.price_monthly)
    ok(create_checkout_session.sync_detailed(client=ada, price_id=price))
    said(ok(create_portal_session.sync_detailed(client=ada)).url, "the portal has an address")
    said(ok(get_subscription.sync_detailed(client=ada)).status == "free", "nothing is paid yet")
    body = ProcessorEvent.from_dict(event("invoice.finalized", {"id": "in_1", "object": "invoice"}))
    signed = signature(body.to_dict(), os.environ["WEBHOOK_SECRET"])
    ok(receive_billing_event.sync_detailed(client=anyone, body=body, stripe_signature=signed))


def administration(user_id: str) -> None:
    superuser = api_as(os.environ["SUPERUSER_TOKEN"])
    ok(update_user.sync_detailed(user_id, client=superuser, body=UpdateUserRequest(subscription_tier="pro")))
    said(ok(get_stats.sync_detailed(client=superuser)).total_users, "there are users")
    said(ok(list_users.sync_detailed(client=superuser, limit=2)).users, "users are listed")


def programs(ada: AuthenticatedClient) -> None:
    issued = ok(create_api_key.sync_detailed(client=ada, body=CreateApiKeyRequest(name="laptop")))
    ok(change_api_key.sync_detailed(issued.id, client=ada, name="desktop"))
    said(ok(list_api_keys.sync_detailed(client=ada))[0].name == "desktop", "the key has its new name")

    program = api_as(issued.key)
    messages = [ChatMessage(role="user", content="Say hello.")]
    said(ok(chat.sync_detailed(client=program, body=ChatRequest(messages=messages))).usage.total_tokens, "it was counted")
    ok(complete_prompt.sync_detailed(client=program, body=CompletePromptRequest(prompt="Say hello.")))
    metadata = JsonObject.from_dict({"place": "coast"})
    ok(ingest_text.sync_detailed(client=program, body=IngestTextRequest(content=STORY, metadata=metadata)))
    file = File(payload=BytesIO(f"{STORY} It burns oil.".encode()), file_name="lighthouse.txt", mime_type="text/plain")
    ingested = ok(ingest_file.sync_detailed(client=program, body=IngestFileRequest(file=file)))
    found = ok(search_chunks.sync_detailed(client=program, body=SearchChunksRequest(query="Who built it?")))
    said(found.results[0].score > 0, "something is found")
    question = QueryDocumentsRequest(question="Who built the lighthouse?")
    said("Duroc" in ok(query_documents.sync_detailed(client=program, body=question)).answer, "it is answered")
    ok(delete_document.sync_detailed(ingested.document_ids[0], client=program))
    ok(revoke_api_key.sync_detailed(issued.id, client=ada))
    refused = chat.sync(client=program, body=ChatRequest(messages=messages))
    said(isinstance(refused, AiError) and refused.code == "unauthenticated", "a refusal has a code")


def shop(user_id: str, email: str, password: str) -> None:
    store = StorefrontClient(base_url=STOREFRONT_URL, httpx_args=report(STOREFRONT_URL))
    ok(create_session.sync_detailed(client=store, body=CreateSessionRequest(email=email, password=password)))
    said("location" in start_checkout.sync_detailed(client=store, tier="pro").headers, "the checkout leads on")
    payment = uuid.uuid4().hex
    session = {
        "id": f"cs_test_{payment}",
        "object": "checkout.session",
        "mode": "payment",
        "payment_status": "paid",
        "payment_intent": f"pi_{payment}",
        "amount_total": 29900,
        "currency": "usd",
        "customer_details": {"email": email},
        "metadata": {"user_id": user_id, "tier": "pro"},
    }
    body = PaymentEvent.from_dict(event("checkout.session.completed", session))
    signed = signature(body.to_dict(), os.environ["STOREFRONT_WEBHOOK_SECRET"])
    ok(receive_payment_event.sync_detailed(client=store, body=body, stripe_signature=signed))
    said(ok(download_archive.sync_detailed(client=store)).payload.read(4) == b"PK\x03\x04", "the archive is a ZIP")
    said(ok(list_downloads.sync_detailed(client=store))[0].downloaded_at, "the download is listed")
    message = ContactMessage(name="Ada", email=email, subject="sales", message="Do you ship to the coast?")
    ok(send_contact_message.sync_detailed(client=store, body=message))


def main() -> None:
    anyone = Client(base_url=API_URL, httpx_args=report(API_URL))
    ada, user_id = accounts(anyone)
    billing(anyone, ada)
    administration(user_id)
    programs(ada)
    new = f"{PASSWORD}!"
    ok(change_password.sync_detailed(client=ada, body=ChangePasswordRequest(current_password=PASSWORD, new_password=new)))
    moved = f"new-{EMAIL}"
    ok(change_email.sync_detailed(client=ada, body=ChangeEmailRequest(new_email=moved, password=new)))
    shop(user_id, moved, new)
    ok(delete_account.sync_detailed(client=ada, body=DeleteAccountRequest(password=new)))


main()
