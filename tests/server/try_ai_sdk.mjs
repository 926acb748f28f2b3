// Run by test_proxy_clients.py with Node, where the AI SDK is installed: chats twice through a proxy, prints what it got.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

const [baseURL, user] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: "evimem", baseURL, apiKey: "sk-x", headers: { "X-Evimem-User": user } });
const said = await generateText({ model: provider("m"), prompt: "I adopted a puppy called Juno." });
const stream = streamText({ model: provider("m"), prompt: "What is my puppy called?" });
let streamed = "";
for await (const piece of stream.textStream) streamed += piece;
console.log(JSON.stringify([said.text, streamed]));
