# Searches the same texts with LanceDB's stemmed full-text index: texts and questions as JSON on stdin, CPU milliseconds per search on stdout.
import json
import sys
import tempfile
import time

import lancedb
from lancedb.index import FTS

asked = json.load(sys.stdin)

with tempfile.TemporaryDirectory() as folder:
    table = lancedb.connect(folder).create_table("chunks", [{"text": text} for text in asked["texts"]])
    table.create_index("text", config=FTS(stem=True, remove_stop_words=False))

    def search(question):
        return table.search(question, query_type="fts").limit(5).to_list()

    for question in asked["questions"][:20]:
        search(question)
    before = time.process_time()
    for question in asked["questions"]:
        search(question)
    print(1000 * (time.process_time() - before) / len(asked["questions"]))
