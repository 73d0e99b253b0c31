# /// script
# dependencies = ["aider-chat==0.86.2"]
# ///
import os
import subprocess
import sys
import tempfile

from checks import KEY, URL, walk

FLAGS = "--no-git --yes-always --no-check-update --no-show-model-warnings --no-pretty --analytics-disable --map-tokens 0"


def aider(model, *args):
    place = tempfile.mkdtemp()
    env = {**os.environ, "HOME": place, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    env |= {"OPENAI_API_BASE": f"{URL}/v1", "OPENAI_API_KEY": KEY}
    env |= {"ANTHROPIC_API_BASE": URL, "ANTHROPIC_API_KEY": KEY}
    words = [*FLAGS.split(), "--model", model, *args, "--message", "Hello"]
    done = subprocess.run(
        [sys.executable, "-m", "aider", *words], env=env, cwd=place, capture_output=True, text=True, timeout=90
    )
    assert "Sandbox model" in done.stdout, (done.stdout + done.stderr)[-400:]


def ask(model):
    aider(f"openai/{model}", "--chat-mode", "ask")


def whole(model):
    aider(f"openai/{model}", "--chat-mode", "ask", "--no-stream")


def anthropic(model):
    aider(f"anthropic/{model}", "--chat-mode", "ask")


walk("aider-chat", [ask, whole, anthropic])
