"""Turns a CSV with the columns question, answer into the JSON-lines file that fine-tuning takes, and holds a tenth back for checking.

    python prepare.py conversations.csv --system "You are our support."
"""

import argparse
import csv
import hashlib
import json
import pathlib


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--system", default="You are a helpful assistant.")
    arguments = parser.parse_args()

    parts: dict[str, list[str]] = {"train": [], "check": []}
    with arguments.source.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            question, answer = row["question"].strip(), row["answer"].strip()
            if not question or not answer:
                continue
            messages = [
                {"role": "system", "content": arguments.system},
                {"role": "user", "content": question},
                {"role": "assistant", "content": answer},
            ]
            # By hash: the same question lands on the same side each time, also when rows are added.
            held_back = hashlib.sha256(question.encode()).digest()[0] < 26
            parts["check" if held_back else "train"].append(json.dumps({"messages": messages}, ensure_ascii=False))

    for name, lines in parts.items():
        pathlib.Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}.jsonl: {len(lines)} examples")


if __name__ == "__main__":
    main()
