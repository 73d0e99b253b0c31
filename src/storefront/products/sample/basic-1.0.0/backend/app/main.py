"""The application. Every module in routers/ is mounted by itself, so a new group of addresses is one new file."""

import os
import pkgutil
from importlib import import_module

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from . import routers
from .database import prepare

app = FastAPI(title="Starter kit")
app.add_middleware(
    CORSMiddleware,
    allow_origins=[os.environ.get("FRONTEND_URL", "http://localhost:3000")],
    allow_methods=["*"],
    allow_headers=["Authorization", "Content-Type"],
)

prepare()
for module in pkgutil.iter_modules(routers.__path__):
    app.include_router(import_module(f"{routers.__name__}.{module.name}").router)


@app.get("/healthz")
def healthz() -> dict[str, str]:
    return {"status": "ok"}
