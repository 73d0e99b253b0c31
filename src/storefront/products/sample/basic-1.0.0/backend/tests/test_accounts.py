import os
import tempfile

os.environ["SECRET_KEY"] = "only for tests, and longer than 32 bytes"
os.environ["DATABASE_PATH"] = os.path.join(tempfile.mkdtemp(), "kit.db")

from fastapi.testclient import TestClient  # noqa: E402

from app.main import app  # noqa: E402

client = TestClient(app)
ADA = {"email": "ada@example.com", "password": "correct horse battery"}


def test_someone_who_registers_can_log_in_and_see_their_profile():
    assert client.post("/api/auth/register", json=ADA).status_code == 201
    token = client.post("/api/auth/login", json=ADA).json()["access_token"]
    me = client.get("/api/auth/me", headers={"Authorization": f"Bearer {token}"})
    assert me.json()["email"] == ADA["email"]


def test_an_address_registers_once():
    client.post("/api/auth/register", json=ADA)
    assert client.post("/api/auth/register", json=ADA).status_code == 400


def test_a_wrong_password_and_a_forged_token_are_refused():
    assert client.post("/api/auth/login", json={**ADA, "password": "wrong password"}).status_code == 401
    assert client.get("/api/auth/me", headers={"Authorization": "Bearer forged"}).status_code == 401
