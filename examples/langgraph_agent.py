"""A LangGraph agent with long-term memory: `python examples/langgraph_agent.py mira.evimem`.

Any OpenAI-compatible endpoint: reads OPENAI_API_KEY, and OPENAI_BASE_URL and MODEL where they are set. Each line is a
thread of its own; what earlier ones said comes from the store, which is one file and there after a restart.
"""

from __future__ import annotations

import os
import sys
from typing import Any
from uuid import uuid4

import openai
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

import evimem
from evimem.adapters.langgraph import EvimemStore

RULES = "You are a friendly assistant. Use what is quoted from earlier conversations; where it does not tell, say so."
SAID = ("mira", "said")  # the namespace: of one user in a store of many


def talk(state: MessagesState, runtime: Runtime[None]) -> dict[str, Any]:
    """Answer the last message with what the store holds for it, then keep the message."""
    if runtime.store is None:
        raise ValueError("the graph has no store; compile it with one")
    said = str(state["messages"][-1].content)
    found = runtime.store.search(SAID, query=said, limit=5)
    quoted = "\n".join(f"> {item.created_at:%d %B %Y}: {item.value['text']}" for item in found)
    asked = f"From earlier conversations:\n{quoted}\n\n{said}" if quoted else said
    done = openai.OpenAI().chat.completions.create(
        model=os.environ.get("MODEL", "gpt-4o-mini"),
        messages=[{"role": "system", "content": RULES}, {"role": "user", "content": asked}],
    )
    runtime.store.put(SAID, uuid4().hex, {"text": said})
    return {"messages": [("assistant", done.choices[0].message.content or "")]}


def main() -> None:
    """Talk until the end of the input."""
    builder = StateGraph(MessagesState)
    builder.add_node("talk", talk)
    builder.add_edge(START, "talk")
    with evimem.open(sys.argv[1]) as memory:
        graph = builder.compile(store=EvimemStore(memory))
        for line in filter(str.strip, sys.stdin):
            print(graph.invoke({"messages": [("user", line.strip())]})["messages"][-1].content, flush=True)


if __name__ == "__main__":
    main()
