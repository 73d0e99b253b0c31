# Searches the same texts with Tantivy, its English stemmer and BM25: texts and questions as JSON on stdin, CPU milliseconds per search on stdout.
import json
import sys
import time

import tantivy

asked = json.load(sys.stdin)
schema = tantivy.SchemaBuilder().add_text_field("text", stored=True, tokenizer_name="en_stem").build()
index = tantivy.Index(schema)
writer = index.writer(num_threads=1)
for text in asked["texts"]:
    writer.add_document(tantivy.Document(text=text))
writer.commit()
writer.wait_merging_threads()
index.reload()
searcher = index.searcher()


def search(question):
    query, _ = index.parse_query_lenient(question, ["text"])
    return [searcher.doc(address)["text"] for _, address in searcher.search(query, 5).hits]


for question in asked["questions"]:
    search(question)
before = time.process_time()
for question in asked["questions"]:
    search(question)
print(1000 * (time.process_time() - before) / len(asked["questions"]))
