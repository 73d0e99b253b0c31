"""Reads PDFs with pdfium and pdftotext: prints a line of JSON with text and CPU time per file and reader. Reads {files, pdftotext, libraries}."""
import json
import os
import resource
import subprocess
import sys

import pypdfium2


def cpu(who):
    used = resource.getrusage(who)
    return (used.ru_utime + used.ru_stime) * 1000


def by_pdfium(path):
    document = pypdfium2.PdfDocument(path)
    try:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)
    finally:
        document.close()


def by_pdftotext(path, command, libraries):
    env = {**os.environ, **({"LD_LIBRARY_PATH": libraries} if libraries else {})}
    done = subprocess.run([command, "-enc", "UTF-8", "-nopgbrk", path, "-"], capture_output=True, env=env, timeout=60)
    return done.stdout.decode("utf-8", "replace")


def measured(who, read):
    before = cpu(who)
    try:
        text = read()
    except Exception:
        text = ""
    return text, cpu(who) - before


task = json.load(sys.stdin)
for path in task["files"]:
    readers = {"pdfium": (resource.RUSAGE_SELF, lambda: by_pdfium(path))}
    if task["pdftotext"]:
        readers["pdftotext"] = (
            resource.RUSAGE_CHILDREN,
            lambda: by_pdftotext(path, task["pdftotext"], task["libraries"]),
        )
    for reader, (who, read) in readers.items():
        text, cpu_ms = measured(who, read)
        print(json.dumps({"file": path, "reader": reader, "text": text, "cpuMs": cpu_ms}))
