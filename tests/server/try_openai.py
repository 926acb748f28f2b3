"""Run by test_proxy_clients.py with versions of the openai package: chats twice through a proxy, prints the replies."""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="sk-x", default_headers={"X-Evimem-User": sys.argv[2]})
said = client.chat.completions.create(
    model="m", messages=[{"role": "user", "content": "I adopted a puppy called Juno."}]
)
pieces = client.chat.completions.create(
    model="m", messages=[{"role": "user", "content": "What is my puppy called?"}], stream=True
)
streamed = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
print(json.dumps([said.choices[0].message.content, streamed]))  # noqa: T201
