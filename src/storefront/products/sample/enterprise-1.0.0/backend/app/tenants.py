"""Multi-tenancy: one database file for each tenant, so that no query can reach another's rows.

The tenant is the first label of the host name: acme.example.com is `acme`.
"""

import os
import pathlib
import re

from fastapi import HTTPException, Request

LABEL = re.compile(r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$")


def tenant_of(request: Request) -> str:
    label = request.headers.get("host", "").split(":")[0].split(".")[0].lower()
    if not LABEL.match(label) or not database_of(label).exists():
        raise HTTPException(404, "Unknown tenant")
    return label


def database_of(tenant: str) -> pathlib.Path:
    """Only labels reach this: no dots, no slashes."""
    if not LABEL.match(tenant):
        raise ValueError("not a tenant's label")
    return pathlib.Path(os.environ.get("TENANTS_PATH", "./tenants")) / f"{tenant}.db"
