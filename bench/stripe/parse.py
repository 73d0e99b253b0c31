# Stripe's Python SDK makes its own objects of every reply on stdin (a JSON document a line), down to the last list and event.
import json
import sys

import stripe
from stripe._object_classes import OBJECT_CLASSES

client = stripe.StripeClient("sk_test_x")


def walk(value, at):
    if isinstance(value, stripe.StripeObject):
        name = value["object"] if "object" in value else None
        if isinstance(name, str) and name in OBJECT_CLASSES and type(value).__name__ != OBJECT_CLASSES[name][1]:
            yield f"{at}: {name} became {type(value).__name__}"
        for key in value.to_dict():
            yield from walk(value[key], f"{at}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from walk(one, f"{at}[]")


for line in sys.stdin:
    try:
        parsed = client.deserialize(json.loads(line), api_mode="V1")
        faults = list(walk(parsed, parsed["object"]))
    except Exception as error:
        faults = [f"{type(error).__name__}: {error}"]
    print(json.dumps(faults), flush=True)
