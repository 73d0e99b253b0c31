"""Uploads train.jsonl and check.jsonl and follows the fine-tuning job until it ends.

    OPENAI_API_KEY=... python start.py --model gpt-4.1-mini
"""

import argparse
import time

from openai import OpenAI


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()

    client = OpenAI()
    files = {}
    for name in ("train", "check"):
        with open(f"{name}.jsonl", "rb") as file:
            files[name] = client.files.create(file=file, purpose="fine-tune").id
    job = client.fine_tuning.jobs.create(
        model=arguments.model, training_file=files["train"], validation_file=files["check"]
    )
    while job.status not in ("succeeded", "failed", "cancelled"):
        print(job.id, job.status)
        time.sleep(30)
        job = client.fine_tuning.jobs.retrieve(job.id)
    print(job.status, job.fine_tuned_model or job.error)


if __name__ == "__main__":
    main()
