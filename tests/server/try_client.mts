// Run by test_typescript_client.py with Node: makes every kind of call, and prints the results as JSON.
import { EvimemClient, ServerError } from "../../clients/typescript/evimem.ts";

const client = new EvimemClient({ baseUrl: process.argv[2] + "/" });
const user = "ts/ünï";
const time = "2024-03-12T18:20:00Z";
const added = await client.addTurns(user, {
  turns: [{ speaker: "Mira", text: "I adopted a puppy called Juno.", time, session: "s1", metadata: { pet: true } }],
});
const id = added.statuses[0].id;
const turns = await client.listTurns(user, { id: [id] });
const hits = await client.search(user, { query: "puppy", where: { pet: { $eq: true } }, explain: true });
const block = await client.block(user, { message: "What is my puppy called?", tokens: 200 });
const answer = await client.ask(user, { question: "What is Mira's puppy called?" });
const events: string[] = [];
let streamed: string | null = null;
for await (const one of client.askStreamed(user, { question: "What is Mira's puppy called?" })) {
  events.push(one.event);
  if (one.event === "answer") streamed = one.data.text;
}
const lines = await client.exportTurns(user);
const operation = await client.importTurns("ts-copy", lines);
const refused = await client.updateTurn(user, { id: "x", text: "y" }).catch((error: unknown) => error);
const erased = await client.erase(user);
console.log(
  JSON.stringify({
    outcome: added.statuses[0].outcome,
    text: turns.turns[0].text,
    words: hits.hits[0].parts["words"] > 0,
    quoted: block.text.includes("Juno"),
    answer: answer.text?.includes("Juno"),
    streamed: streamed === answer.text,
    first: events[0],
    last: events[events.length - 1],
    kind: operation.kind,
    refused: refused instanceof ServerError && [refused.status, refused.title],
    erased: erased.turns,
    health: (await client.healthz()).status,
  }),
);
