"""An agent of the OpenAI Agents SDK that remembers: `python examples/agents_sdk.py mira.evimem morning`.

The session, named by the second argument, keeps the conversation in the file; the tool `recall` finds what was said in
all others. Any OpenAI-compatible endpoint: reads OPENAI_API_KEY, and OPENAI_BASE_URL and MODEL where they are set.
"""

from __future__ import annotations

import asyncio
import os
import sys

import openai
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner

import evimem
from evimem.adapters.openai_agents import EvimemSession, recall_tool

RULES = "You are a friendly assistant. Recall what you are not told here; where that does not tell, say so."


async def main() -> None:
    """Talk until the end of the input."""
    model = OpenAIChatCompletionsModel(os.environ.get("MODEL", "gpt-4o-mini"), openai.AsyncOpenAI())
    async with evimem.open_async(sys.argv[1]) as memory:
        session = EvimemSession(sys.argv[2], memory)
        agent = Agent("Helper", instructions=RULES, model=model, tools=[recall_tool(memory)])
        for line in filter(str.strip, sys.stdin):
            done = await Runner.run(agent, line.strip(), session=session, run_config=RunConfig(tracing_disabled=True))
            print(done.final_output, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
