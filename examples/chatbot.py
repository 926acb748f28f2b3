"""A chatbot that remembers: `python examples/chatbot.py mira.evimem`, for any OpenAI-compatible endpoint.

Reads OPENAI_API_KEY, and OPENAI_BASE_URL and MODEL where they are set. What was said stays in the file; the model sees
this conversation, and of earlier ones what the memory holds for the question.
"""

from __future__ import annotations

import os
import sys
from typing import Any
from uuid import uuid4

import openai

import evimem

RULES = "You are a friendly assistant. Use what is quoted from earlier conversations; where it does not tell, say so."


def reply(client: openai.OpenAI, memory: evimem.Memory, session: str, messages: list[Any]) -> str:
    """Return the answer to the last of `messages`, which are those of this conversation."""
    said = messages[-1]["content"]
    seen = [turn.id for turn in memory.turns(session=session)]  # the model sees them anyway
    block = memory.block(messages, tokens=1000, exclude=seen)
    asked = {"role": "user", "content": f"{block.text}\n\n{said}" if block.text else said}
    done = client.chat.completions.create(
        model=os.environ.get("MODEL", "gpt-4o-mini"),
        messages=[{"role": "system", "content": RULES}, *messages[:-1], asked],
    )
    return done.choices[0].message.content or ""


def main() -> None:
    """Talk until the end of the input."""
    session, messages, client = uuid4().hex, [], openai.OpenAI()
    with evimem.open(sys.argv[1]) as memory:
        for line in filter(str.strip, sys.stdin):
            messages.append({"role": "user", "content": line.strip()})
            answer = reply(client, memory, session, messages)
            messages.append({"role": "assistant", "content": answer})
            memory.remember(messages, session=session, time=memory.now())  # stores what is new in the list
            print(answer, flush=True)


if __name__ == "__main__":
    main()
