"""`Memory`: the public class for synchronous code."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace as replaced
from datetime import datetime
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from ..db.encryption import Key
from ..embedding.checked_embedder import embed_checked
from ..errors import InvalidQuery
from ..flow import CollectBatch, Effect, Embed, Flow, Pause, Rerank, SideBySide, StartBatch, run, run_side_by_side
from ..protocols import Embedder
from ..types.results import (
    FALSE_ABSTENTION,
    AddReport,
    Answer,
    BatchReport,
    Block,
    Budget,
    CountTokens,
    EnrichReport,
    EraseReport,
    Estimate,
    Health,
    Stats,
    Style,
)
from ..types.stored import MAX_EARLIER_TURNS, Listing
from ..types.trace import Complete, Event, Reply, Trace
from ..types.type_variables import T
from ..types.values import ExportFormat, Fact, FactHit, Hit, Over, TimeSpan, Turn
from .checked_arguments import (
    OnEvent,
    Progress,
    TimeInput,
    checked_count,
    checked_form,
    checked_on_event,
    checked_path,
    checked_price,
    checked_scope,
    checked_trace,
)
from .core import Core, require_model, workers_for
from .observer import Lending, Streamed, streamed_now

if TYPE_CHECKING:  # imported by the calls that need it: opening a file, a search and a block do without
    from ..calibration import Calibration, Labelled
    from ..loops import Loop


class Memory:
    """The memory of one conversation: keeps turns, finds evidence, answers with citations or abstains.

    Open one with `evimem.open`, and use it in a `with` block or call `close`. Every method may be called from any
    thread, and several processes may hold the same file open: each search sees every turn that was committed before
    it began.

    Times are datetimes, ISO 8601 strings or "now", the wall clock (see `now`). With a timezone (see `evimem.open`)
    naive and aware times are taken everywhere, as times of its calendar. Without one a memory holds the kind of its
    first turn. Intervals are half-open: `after <= time < before`.

    Besides the exceptions that a method names, each can raise a `StoreError`: StoreClosed after `close`, StoreBusy
    when another process holds the write lock for over 5 seconds, StoreCorrupt for a damaged file, StoreRolledBack when
    the file was replaced or removed while open; methods that write raise StoreReadOnly and DiskFull; and methods that
    embed raise DimensionMismatch where the embedder returns vectors of another width than it declares. Exceptions of a
    caller's own extractor or `progress` function propagate unchanged.
    """

    def __init__(self, core: Core, model: Any = None, lending: Lending = nullcontext) -> None:
        """Use `evimem.open` instead; `lending` is entered around whatever waits for a model."""
        self._core = core
        self._model = model
        self._lending = lending

    def add(  # noqa: PLR0913 - the fields of a turn
        self,
        speaker: str,
        text: str,
        *,
        time: TimeInput,
        session: str | None = None,
        id: str | None = None,
        caption: str | None = None,
        role: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> AddReport:
        """Store one turn with the facts found in it (E1, E2). It is durable and searchable when this returns.

        If the embedder fails, the turn is stored and found by its words; its vector is queued for `enrich`.

        Args:
            speaker: Who said it; 1 to 512 characters.
            text: The words, kept verbatim; at most 1 MiB of UTF-8. May be empty if there is a caption.
            time: When it was said: the reference date for "yesterday" in its text (E3).
            session: The session it belongs to, at most 512 characters; by default the calendar day of `time`.
            id: The turn's id, at most 512 characters; by default a digest of its content. The same id with the same
                content is stored once.
            caption: A description of a shared picture, searched like the text; at most 1 MiB of UTF-8.
            role: One of "user", "assistant", "system", "tool"; by default the speaker's name if it is one of them, else
                "user".
            metadata: JSON values by name, kept and returned, and selected by with `where=`; their words are not
                searched.

        Raises:
            InvalidTurn: A field is not as described, or the memory has no timezone and `time` is naive where its times
                are aware, or aware where they are naive.
            TurnConflict: `id` is stored already with other content.
        """
        turn = Turn(id or "", session or "", speaker, text, cast(datetime, time), caption, role, metadata or {})
        return self._run(self._core.extend([turn], strict=True))

    def extend(
        self,
        turns: Iterable[Turn],
        *,
        strict: bool = False,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> AddReport:
        """Store many turns, in batches of one transaction each. Idempotent: repeat the call after a crash.

        They can be searched at once. Their facts are read by the first call that needs them, which takes some 2 ms a
        turn: after a large import call `enrich`.

        Turns of an export that may branch are known again under another title or time, and stored turns of branches
        that it says were abandoned are erased, which the report counts.

        Args:
            turns: The turns, in dialogue order; consumed lazily.
            strict: Raise for the first turn that cannot be stored, instead of reporting it as refused. Earlier batches
                stay stored, the batch of that turn is not.
            replace: Where an id is stored with other content, erase that as `forget` does and store this turn, in one
                transaction: after a crash the old or the new one is there. Its status is "replaced"; it counts as
                having arrived now. Of several turns of one id in a batch, the last is stored. Nothing keeps the old
                content.
            progress: Called with the number of turns of each batch once it is durable.

        Returns:
            One status per turn, in order.

        Raises:
            InvalidTurn: With `strict`, a turn is not as `add` describes.
            TurnConflict: With `strict`, an id is stored already with other content; not with `replace`.
        """
        return self._run(self._core.extend(turns, strict=strict, replace=replace, progress=progress))

    def update(self, id: str, text: str) -> AddReport:
        """Give a turn another text. It keeps its id, session, speaker, time, role, caption and metadata.

        `metadata["corrected_at"]` is then the time of the last correction, in ISO 8601.

        The old text is erased with everything derived from it, in the transaction that stores the new one (see
        `extend` with `replace`). `metadata["message"]` of `remember` is left out, because it holds the old text.

        Args:
            id: The turn's id.
            text: Its new text, as for `add`.

        Returns:
            The status "replaced", or "exists" for the text that it has.

        Raises:
            UnknownTurn: There is no such turn.
            InvalidTurn: The text is not as `add` describes; the old one stays.
        """
        return self._run(self._core.update(id, text))

    def remember(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        time: TimeInput | None = None,
        strict: bool = False,
        again: bool = False,
        replace: bool = False,
    ) -> AddReport:
        """Store messages as chat APIs take them, each once: those of the list that continue its session.

        Give after every exchange the whole history, its last messages, or only the new ones. The list
        is laid beside the session in order of arrival. Where it begins with all of the session or with its end, the
        rest is new; where it has nothing of it, all is. A list that is there already is known where it comes again with
        the same `time`, as after a reply that was lost; later, one message or exchange was said again, and of a list
        that repeats itself its last period is new. Where that is ambiguous, the earlier lists of the session
        decide, and messages still in doubt are stored and reported as "uncertain".

        Messages are compared by their content: role, name, text, calls and results. One with an id or a time of its own
        (time, created_at, timestamp or create_time) is known by that, whatever the list. A system prompt is stored once
        a memory, whatever date stands in it. A changed history is aligned with the session: an edited message or a
        regenerated reply is stored, and the former one stays with `{"discarded": true}` in its metadata, ranked last by
        `search` and quoted by nothing else. A reply that was saved in part gives way to the whole one. Where nothing
        tells a changed exchange from another that begins alike, the reply is "uncertain".

        A forgotten message leaves its place in the session, without a word of it: a message that stands there is
        reported as "forgotten" and not stored.

        The speaker is the message's `name`, else its role; the role says how far its statements are trusted. The text
        is that of the content, or of its text parts; a message without text is stored as a readable rendering, such as
        `get_weather({"city": "Porto"})` for a call. The message itself is kept as JSON in the turn's
        `metadata["message"]`: the text of `json.dumps`, keys in the order given.

        A message that is a block of `block` is dropped, and one that holds a block is stored with the text around it.

        Args:
            messages: Mappings with `role` and `content`, in order: text, text parts, tool calls and tool results.
            session: The conversation; by default the calendar day of each new message's time, and the list is laid
                beside the latest turns of such sessions.
            time: When the new messages were said that have no time of their own. Give each exchange its own time, as
                `now()` is: by the same time a call is known as a repeated one.
            strict: Raise for the first message that cannot be a turn, instead of reporting it as refused.
            again: Store also forgotten messages.
            replace: Where a message was changed (its reply regenerated, its text edited, other content under its id),
                erase the stored one as `extend` with `replace` does, and store this one in its place: "replaced".

        Returns:
            One status per message, in order; a message that cannot be a turn, for its size or role, is "refused".

        Raises:
            InvalidTurn: One of the messages is no message (nothing is stored); or a new one has no time, and `time` is
                None; or `time` is aware in a memory of naive times, or the other way round; or with `strict`, one is
                refused.
            InvalidQuery: `messages` is no collection, `session` no string, or `time` no time.
        """
        remembered = self._core.remember(messages, session, time, strict=strict, again=again, replace=replace)
        return self._run(remembered)

    def search(  # noqa: PLR0913 - the filters
        self,
        query: str,
        k: int = 10,
        *,
        before: TimeInput | None = None,
        after: TimeInput | None = None,
        speaker: str | None = None,
        session: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        exclude: Collection[str] = (),
        asked_at: TimeInput | None = None,
        over: Over = "turns",
        on_event: OnEvent | None = None,
    ) -> list[Hit]:
        """Return the k best turns for a query, best first, ties in order of arrival.

        Arguments after `k` are hard filters. Speakers and times named in the query only raise scores. There are
        exactly k hits if at least k turns pass the filters. While the facts of more than 256 turns wait to be read, no
        query waits for them: its hits have the facts that they state, and no `replaced_by`; a query for a time ranks
        those turns by when they were said. There may then be fewer than k hits `before` or `after` a time.

        Args:
            query: The text to look for; 1 to 100,000 characters, of more than 4,096 the first and the last 2,048.
                Where the embedder fails it is searched for by its words, with a warning in the log.
            k: How many turns to return, at least 1.
            before: Only turns with an event that begins earlier than this; a turn without a dated fact counts by the
                time at which it was said.
            after: Only turns with an event that ends later than this, or without a dated fact, said at or after it.
            speaker: Only turns of this speaker, spelled as stored.
            session: Only turns of this session.
            role: Only turns of this role: "user", "assistant", "system" or "tool"; without one, no system prompts.
            where: Only turns whose metadata meets these conditions, all of them. A value is equal if it is the same
                JSON: 1, 1.0 and True differ, and null differs from a key that is not there. A mapping is compared key
                by key; {"$gt": 3} and the like compare otherwise: $eq, $ne (met without the key, too), $gt, $gte, $lt,
                $lte (two numbers or two strings), $in (a list of values), $prefix (a string, or the start of a list).
            exclude: Ids of turns to leave out; unknown ids are ignored.
            asked_at: "Today" for times in the query, naive or aware like the memory's, or "now", the wall clock (see
                `now`); by default the time of the newest turn.
            over: The texts compared with the query: the passages of "turns"; their "facts", and fewer than k hits may
                come back; or "both", by the places of a turn among each.
            on_event: Called with a `Queried` before the search and a `Found` after it; its exception ends the search.

        Raises:
            InvalidQuery: `query` is empty or too long, `k` is not a whole number from 1, a time is no time or differs
                in awareness from the memory's, `role` is no role, `where` no condition, or `exclude` is a string.
        """
        scope, limits = checked_scope(session, speaker, role, where), (before, after, exclude)
        return self._run(self._core.search(query, k, scope, *limits, asked_at=asked_at, over=over, on_event=on_event))

    def search_facts(  # noqa: PLR0913 - the filters
        self,
        query: str,
        k: int = 10,
        *,
        about: str | None = None,
        during: str | TimeSpan | None = None,
        current: bool = False,
        speaker: str | None = None,
        session: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        asked_at: TimeInput | None = None,
    ) -> list[FactHit]:
        """Return the k best facts for a query, best first: statements of turns, one each (EviMem section 3.1).

        Facts are derived: text that neither rules nor a model have read is found by `search` alone. Each names its
        turn, the characters that state it (`fact.span`), its replacement and the one it replaced.

        Args:
            query: The text to look for; see `search`.
            k: How many facts to return at most, at least 1.
            about: Only facts whose subject or object has this name, of the newest 512 turns that name it.
            during: Only events in an interval or, of a fact without a date, was said in it: a phrase such as
                "March 2024" or "last week", read as of `asked_at`, or a `TimeSpan`.
            current: Only facts that are known to hold still, as in `facts`.
            speaker: Only facts of turns of this speaker; this and the next three as in `search`.
            session: Of turns of this session.
            role: Of turns of this role.
            where: Of turns whose metadata meets these conditions.
            asked_at: "Today" for times in the query and in `during`; see `search`.

        Raises:
            InvalidQuery: An argument is not as described.
        """
        scope = checked_scope(session, speaker, role, where)
        found = self._core.search_facts(query, k, scope, about=about, during=during, current=current, asked_at=asked_at)
        return self._run(found)

    @overload
    def ask(
        self,
        question: str,
        loop: str | Loop = ...,
        *,
        session: str | None = ...,
        speaker: str | None = ...,
        role: str | None = ...,
        where: Mapping[str, Any] | None = ...,
        asked_at: TimeInput | None = ...,
        budget: Budget = ...,
        on_event: OnEvent | None = ...,
    ) -> Answer: ...

    @overload
    def ask(
        self,
        question: str,
        loop: str | Loop = ...,
        *,
        session: str | None = ...,
        speaker: str | None = ...,
        role: str | None = ...,
        where: Mapping[str, Any] | None = ...,
        asked_at: TimeInput | None = ...,
        budget: Budget = ...,
        on_event: OnEvent | None = ...,
        stream: Literal[True],
    ) -> Iterator[Streamed]: ...

    def ask(  # noqa: PLR0913 - the filters
        self,
        question: str,
        loop: str | Loop = "iris",
        *,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        asked_at: TimeInput | None = None,
        budget: Budget = Budget(),
        on_event: OnEvent | None = None,
        stream: bool = False,
    ) -> Answer | Iterator[Streamed]:
        """Answer a question from memory with citations, or abstain with a reason (E5 to E14).

        Abstaining is an answer (`Answer.abstained`), not an error, and a failure is never reported as abstaining.

        Args:
            question: 1 to 100,000 characters.
            loop: "iris" retrieves, judges and refines until the evidence suffices (EviMem); "memr3" decides after every
                five new turns to search, think or answer (MemR3); "mgretrieval" reads the turns in which the question's
                keywords meet in, and keeps the turns that an answer rests on (MGRetrieval); "mragent" explores with
                tools, from cues to tags to turns and on to further cues (MRAgent), and without a model works as "iris";
                "single_pass" retrieves once. Or a loop of your own: a function from an `evimem.loops.Task` to a flow
                (see `evimem.loops.Loop`).
            session: Answer from turns of this session only. The filters are hard: no other turn is evidence.
            speaker: From turns of this speaker only, spelled as stored.
            role: From turns of this role only.
            where: From turns with such metadata only; see `search`.
            asked_at: "Today" for the question, naive or aware like the memory's times, or "now", the wall clock (see
                `now`); by default the time of the newest turn.
            budget: Limits and variants of the loop.
            on_event: Called with each event of the trace as it is recorded; its exception ends the question and
                propagates unchanged.
            stream: Return an iterator instead: trace events and pieces of the answer's text as they come and, last, the
                `Answer`. The exceptions below, except for a bad filter, are raised while iterating.

        Raises:
            InvalidQuery: The question is empty or too long, the loop unknown, `asked_at` no time, a filter not as
                described for `search`, or a field of the budget out of range.
            NoModel: A loop of your own asks a model, and the memory was opened without.
            ModelError: The model failed (ReplyError, ModelTimeout, ModelUnavailable); `partial` of the error is an
                `Answer` with the evidence so far: of a ModelTimeout, the quotation that is given without a model where
                there is one. Not raised where the memory was opened with
                `on_model_error="offline"`: the answer then comes from the offline judge, and says so.
        """
        within = checked_scope(session, speaker, role, where)
        if not stream:
            return self._run(self._core.ask(question, loop, asked_at, budget, within, on_event))
        events: deque[Event] = deque()
        asking = self._core.ask(question, loop, asked_at, budget, within, events.append, checked_on_event(on_event))
        return streamed_now(asking, events, self._perform, self._pieces, self._lending)

    def block(  # noqa: PLR0913 - the filters
        self,
        question_or_messages: str | Iterable[Mapping[str, Any]],
        *,
        tokens: int = 1500,
        style: Style = "plain",
        count: CountTokens | None = None,
        gate: bool = True,
        check: bool = False,
        profile: bool = True,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        where: Mapping[str, Any] | None = None,
        asked_at: TimeInput | None = None,
        exclude: Collection[str] = (),
    ) -> Block:
        """Return the few lines from memory that help to reply to a message, or none, in the time of a search.

        Lines come in dialogue order, `[3] user, 12 Mar 2024: text`: the number of the turn in `Block.turns`, who said
        it and when, as far as the line above has another. In a memory of a user and an assistant the user's own words
        come first, and a statement that bears on a request counts as much as one that resembles it; of a long turn the
        sentence that tells most is shown, and all of it where tokens are left. Standing wishes of the user ("always
        give me metric units") that concern the message stand first, and so do the user's statements about themselves
        where the message asks just that ("what do you know about me?"). A message that speaks of a time of the
        conversation brings the turns of that time. To a question of time the date that words mean ("last month") is
        added.

        Where a reply needs no memory ("thanks!", "what is 15 % of 80") the text is empty. No judge reads it:
        `check=True` adds the verdict of `ask` without a model, which takes several times as long.

        The text is fenced as quoted data, which no quoted turn can close, and belongs into a user message. By its fence
        evimem knows it: `add`, `extend` and `remember` drop a text that is such a block (its status is "dropped"), and
        of one that holds such a block they keep the text around it, so that recall is never stored again.

        Args:
            question_or_messages: The message to reply to, 1 to 100,000 characters, or the messages of the chat as its
                API takes them: the last one of the user that has text is meant. Its references ("she", "again",
                "what about Tuesday?") are looked up in the three before it, and turns among the messages are left out.
            tokens: At most this many tokens of text, 0 or more.
            style: How the lines are written: "plain" as above, "xml" as `<turn n="3" ...>text</turn>`, "json" as an
                object a line; always inside the fence.
            count: Returns the tokens of a text by your model's tokenizer. By default an upper bound for the tokenizers
                in common use.
            gate: Whether the block may be empty because nothing is worth recalling; `Block.relevance` is its number.
            check: Whether to judge the evidence: sets `tier`, `confidence` and `missing`.
            profile: False leaves out the turns that `profile()` quotes: where a system prompt of yours holds them.
            session: Quote turns of this session only; this and the next three are hard filters.
            speaker: Turns of this speaker only, spelled as stored.
            role: Turns of this role only.
            where: Turns with such metadata only; see `search`.
            asked_at: "Today" for the message, as for `ask`.
            exclude: Ids of turns to leave out; unknown ids are ignored.

        Raises:
            InvalidQuery: There is no message, or it is too long, `tokens` is no whole number from 0, `style` or `count`
                is not as described, `asked_at` is no time or differs in awareness from the memory's, a filter is not as
                described for `search`, or `exclude` is a string.
        """
        form = checked_form(tokens, style, count, gate=gate, check=check, profile=profile)
        scope = checked_scope(session, speaker, role, where)
        return self._run(self._core.block(question_or_messages, form, scope, asked_at, exclude))

    def profile(
        self,
        *,
        tokens: int = 350,
        style: Style = "plain",
        count: CountTokens | None = None,
        session: str | None = None,
        speaker: str | None = None,
        where: Mapping[str, Any] | None = None,
        exclude: Collection[str] = (),
    ) -> Block:
        """Return the user's lasting statements about themselves, in their words, with its dates: for a system prompt.

        It depends on no message, so that it stays the same from call to call while nothing changes and a prompt with it
        can be cached; `block(profile=False)` leaves out the turns that it quotes. In a memory of a user and an
        assistant the user speaks, in any other give `speaker`; without one, all do. Questions, quotations, drafts and
        roles are left out. Statements are found by the shipped embedding, which reads English.

        Args:
            tokens: At most this many tokens of text, 0 or more.
            style: As for `block`, as the next two.
            count: Returns the tokens of a text.
            session: Quote turns of this session only.
            speaker: Quote turns of this speaker only, spelled as stored.
            where: Turns with such metadata only; see `search`.
            exclude: Ids of turns to leave out.

        Raises:
            InvalidQuery: An argument is not as described.
        """
        form = checked_form(tokens, style, count, gate=False, check=False, profile=True)
        return self._run(self._core.profile(form, checked_scope(session, speaker, None, where), exclude))

    def forget(
        self,
        turns: Sequence[str] | None = None,
        *,
        session: str | None = None,
        before: TimeInput | None = None,
        speaker: str | None = None,
        where: Mapping[str, Any] | None = None,
        as_in: str | PathLike[str] | None = None,
        everything: bool = False,
    ) -> EraseReport:
        """Erase turns with everything derived from them: facts, edges, vectors, traces that cite them, queued jobs.

        Give exactly one argument. Afterwards every derived row equals that of a memory that never held the turns; in a
        large memory, `similar` edges of neighbouring facts are queued for `enrich`. Erased bytes are overwritten. Words
        that this process had cached are dropped, but its freed memory is not overwritten. An erased id may be added
        again.

        Args:
            turns: Ids of turns; all or none are erased.
            session: Every turn of this session.
            before: Every turn said earlier than this time (when it was said, not when its events happened).
            speaker: Every turn of this speaker, spelled as stored; statements about them by other speakers stay.
            where: Every turn whose metadata meets these conditions; see `search`.
            as_in: Path of another copy of this memory: erase the turns that that copy has erased, for a restored
                backup. A turn that was replaced there (`update`) is erased with its old content; the new one is in that
                copy alone.
            everything: Every turn.

        Raises:
            InvalidQuery: None or several of the arguments were given, `turns` is a string, `before` is no time or
                differs in awareness from the memory's, `where` is no condition, or `as_in` is no copy of this memory.
            UnknownTurn: An id of `turns` is not stored, and was not forgotten before; nothing is erased.
        """
        named: dict[str, Any] = {"turns": turns, "session": session, "before": before, "speaker": speaker}
        named |= {"where": where, "as_in": as_in, "everything": everything or None}
        return self._core.forget(named)

    def enrich(self, *, retry_now: bool = False, progress: Progress | None = None) -> EnrichReport:
        """Process queued jobs: facts, embeddings, edges, facts extracted by a model. Safe to interrupt and to repeat.

        The facts of new turns are read here, or by the first call that needs them: call it while no user waits, between
        two messages or from a background task of your own, and no question pays for it. Jobs are also queued for the
        vectors of a remote or failing embedder and for the edges of a large memory; from 500,000 turns on, the vector
        index is built too. With `llm`, the model extracts facts from every turn that it has not read: up to 16 requests
        at the same time, or the model's `concurrency`. Several threads and processes may call it for one memory: a turn
        is given to one of them only. A turn whose replies cannot be used is postponed, and after some attempts marked
        failed (see `health`).

        Args:
            retry_now: Try jobs that were postponed or marked failed again at once.
            progress: Called with the number of jobs done since the last call.

        Returns:
            How many jobs were processed, how many wait, until when and why.

        Raises:
            ModelError: The model cannot be reached or refuses every request. Finished jobs are kept, the rest stay
                queued.
            EmbedderError: The embedder cannot be reached. Finished jobs are kept, the rest stay queued.
        """
        return self._run(self._core.enrich(progress, retry_now=retry_now))

    def enrich_batch(self) -> BatchReport:
        """Extract facts through the provider's Batch API, at a lower price: collect finished batches, submit new ones.

        A batch takes up to 24 hours. Call this again later, from any process, until `waiting` of the report is 0.

        Raises:
            NoModel: The memory was opened without `llm`.
            InvalidQuery: Its model has no batch service.
            ModelError: The provider cannot be reached or refuses the batch.
        """
        return self._run(self._core.enrich_batch())

    def estimate(self, price: tuple[float, float] | None = None) -> Estimate:
        """Estimate the requests and the cost of `enrich` with a model. Sends and writes nothing.

        Args:
            price: Dollars per million input and output tokens; by default the price that the model's settings hold.
        """
        from ..llm.extract_facts import estimate

        if price is None and hasattr(self._model, "model_for"):
            price = self._model.prices.get(self._model.model_for("extract"))
        return estimate(self._core.store.turns_to_extract(MAX_EARLIER_TURNS), checked_price(price))

    def calibrate(
        self,
        questions: Iterable[Labelled],
        *,
        false_abstention: float = FALSE_ABSTENTION,
        precision: float | None = None,
        keep: bool = True,
        progress: Progress | None = None,
    ) -> Calibration:
        """Fit this memory's probabilities to labelled questions, and use them from then on.

        The calibration holds for this judge and embedder: with others it is not used, and `health` reports so. Each
        question is asked as `ask` does by default, with the model if there is one.

        Args:
            questions: At least 50 that retrieve anything, at least 10 of them answerable and 10 not.
            false_abstention: The share of answerable questions that may be refused, 0 to 1; sets the threshold for
                abstaining. Ignored with `precision`.
            precision: Set the threshold so that this share of the answered questions is answerable, 0 to 1.
            keep: Store and use the calibration; with False only report it.
            progress: Called with 1 after each question.

        Raises:
            InvalidQuery: There are too few questions, a share is not between 0 and 1, `precision` is out of reach, or
                an `asked_at` is no time.
            ModelError: The model failed on a question; nothing is stored.
            EmbedderError: The embedder failed on a question; nothing is stored.
        """
        wanted = {"false_abstention": false_abstention, "precision": precision}
        return self._run(self._core.calibrate(questions, wanted, keep=keep, progress=progress))

    def calibration(self) -> Calibration | None:
        """Return the calibration that `ask` uses; None if there is none for this judge and embedder."""
        from ..calibration.apply_calibration import active_calibration

        return active_calibration(self._core.store, self._core.target)

    def rebuild(self, *, reread: bool = False, progress: Progress | None = None) -> None:
        """Derive rule facts, postings, columns and edges again from the turns. Vectors are kept.

        Splits the long turns of a memory of an earlier version into passages. Ends with `enrich`, so that it can call
        the model and the embedder.

        Args:
            progress: Called with the number of turns read since the last call.
            reread: Also drop the facts that a model extracted, and queue every turn for it: for use after a model that
                extracted badly.

        Raises:
            StoreCorrupt: A turn is not as it was stored; nothing is changed.
            ModelError: As `enrich`.
            EmbedderError: As `enrich`.
        """
        return self._run(self._core.rebuild(progress, reread=reread))

    def reembed(self, embedder: Embedder, *, progress: Progress | None = None) -> None:
        """Switch to another embedder and embed every turn and fact with it.

        Until its vector is there, a turn is found by its words. After a crash, open the memory with the new embedder
        and call `enrich`.

        Args:
            embedder: Has `name`, `dimension` and `embed` (see `CallableEmbedder`).
            progress: Called with the number of jobs done since the last call.

        Raises:
            EmbedderError: The embedder cannot be reached; `enrich` continues from there.
            ModelError: As `enrich`, if the memory has a model.
        """
        return self._run(self._core.reembed(embedder, progress))

    def turn(self, id: str) -> Turn:
        """Return the stored turn of this `id`.

        Raises:
            UnknownTurn: There is no such turn.
        """
        return self._core.store.read([id])[0]

    def context(self, id: str, before: int = 2, after: int = 2) -> tuple[Turn, ...]:
        """Return a turn with its neighbours in its session, in dialogue order (time, then order of arrival).

        Args:
            id: The turn's id.
            before: At most this many turns before it.
            after: At most this many turns after it.

        Raises:
            UnknownTurn: There is no such turn.
        """
        around = checked_count("before", before), checked_count("after", after)
        return self._core.store.contexts([id], *around)[0]

    def neighbours(self, id: str, limit: int = 10) -> list[Hit]:
        """Return the turns one edge away from a turn, best first (E4).

        Args:
            id: The turn's id.
            limit: At most this many turns.

        Returns:
            Hits whose `score` is the weight of the edge, 0 to 1, and whose `path` is "edge:" and its kind.

        Raises:
            UnknownTurn: There is no such turn.
        """
        return self._run(self._core.neighbours(id, limit))

    def facts(
        self, turns: Sequence[str] | None = None, *, about: str | None = None, current: bool = False
    ) -> tuple[Fact, ...]:
        """Return the facts of turns, or those about a person or thing, newest first.

        By rule nothing replaces anything: two employers or two daughters are both listed. Where a model, or an
        extractor of yours, says that a subject has one value of an attribute at a time (`Fact.attribute`), an earlier
        fact is kept and names the later one in `replaced_by`.

        Args:
            turns: Ids of turns: their facts, grouped by turn in the order given.
            about: A name instead: facts whose subject or object names it, by word boundary, in the order of their
                turns, those of the newest first, of the newest 512 turns that name it or are said by it.
            current: Only facts that are known to hold still (`Fact.is_current`), which a model says and no rule.
                Where none is left, the log has a warning.

        Raises:
            UnknownTurn: One of the ids is not stored.
            InvalidQuery: Both or neither of `turns` and `about` were given, or they are no collection and no name.
        """
        return self._run(self._core.facts(turns, about, current=current))

    def turns(  # noqa: PLR0913 - the filters
        self,
        *,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        before: TimeInput | None = None,
        after: TimeInput | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> Iterator[Turn]:
        """Yield turns: without arguments every turn in order of arrival, else those asked for in dialogue order.

        Dialogue order is time, then order of arrival. Turns are read in pages as they are taken, so that the first or
        last few of a session cost the same in a memory of any size; by speaker, role or metadata alone, turns are read
        in dialogue order until enough are found. For the next page, pass the time of the last turn as `after`. Turns
        added meanwhile are included where they come later in the order.

        Args:
            session: Only turns of this session.
            speaker: Only turns of this speaker, spelled as stored.
            role: Only turns of this role: "user", "assistant", "system" or "tool".
            before: Only turns said earlier than this (when they were said, not when their events happened).
            after: Only turns said at or after this.
            where: Only turns whose metadata meets these conditions; see `search`.
            limit: At most this many, 0 or more; by default all.
            newest: With `limit`, the last turns instead of the first, still in dialogue order.

        Raises:
            InvalidQuery: `role` is no role, `where` no condition, `limit` no whole number from 0, or a time is no time
                or differs in awareness from the memory's.
        """
        listing = replaced(
            checked_scope(session, speaker, role, where).listing,
            before=self._core.bound("before", before),
            after=self._core.bound("after", after),
            limit=None if limit is None else checked_count("limit", limit),
            newest=bool(newest),
        )
        return self._core.store.turns(None if listing == Listing() else listing)

    def now(self) -> datetime:
        """Return the wall clock as a time that this memory takes, for turns that are stored as they are said.

        A memory of naive times gets a naive local time, any other an aware one. With a timezone it is a time of that
        zone; else a naive time is one of the machine's zone, and an aware one of UTC.

        Raises:
            InvalidQuery: The `clock` that the memory was opened with gives no time of the calendar.
        """
        return self._core.now()

    def keep_trace(self, trace: Trace) -> int:
        """Store a `trace` in the memory and return its number. Forgetting a turn drops the traces that read it.

        Raises:
            UnknownTurn: The trace read a turn that is not stored, such as one that was forgotten since the question:
                its text would come back with the trace.
            TraceMismatch: The words of a turn that it read were replaced since the question.
        """
        return self._core.store.keep_trace(checked_trace(trace))

    def trace(self, number: int | None = None) -> Trace:
        """Return the stored trace of this `number`; by default the newest.

        Raises:
            InvalidQuery: There is no such trace, or none at all, or `number` is no whole number.
        """
        return self._core.store.trace(None if number is None else checked_count("number", number))

    def health(self) -> Health:
        """Return queued and failed jobs and known problems; "ok" if all stored turns are fully derived. Fast."""
        return self._core.health()

    def check(self, *, repair: bool = False, progress: Progress | None = None) -> Health:
        """Verify every page, digest and derived row; reads the whole file.

        Args:
            repair: Rebuild all derived rows if any differ from those that the turns give. Turns themselves are never
                changed.
            progress: Called with the number of turns read since the last call; each turn is read twice.

        Raises:
            StoreCorrupt: With `repair`, a turn is not as it was stored; nothing is changed.
        """
        return self._run(self._core.check(progress, repair=repair))

    def stats(self) -> Stats:
        """Return counts, dates and the identity of the embedder.

        Where at most 256 turns wait for their facts to be read, they are read first; else `facts` and `edges` are those
        of the turns that were read, and `health().pending` says how many wait.
        """
        return self._run(self._core.stats())

    def backup(self, path: str | PathLike[str]) -> None:
        """Copy the memory, as it is at one moment, into a new file at `path`. Other callers may write meanwhile.

        Raises:
            StoreError: `path` exists already; a backup never overwrites a file.
            DiskFull: There is no room; no partial file is left.
        """
        self._core.store.backup(checked_path("path", path))

    def rekey(self, key: bytes | str) -> None:
        """Encrypt the memory with another key: a copy takes its place, whole or not at all. Backups keep their key.

        Args:
            key: 32 random bytes or a passphrase, as for `evimem.open`.

        Raises:
            WrongKey: It is not encrypted; `evimem.copy(path, new, target_key=key)` makes an encrypted copy.
            StoreBusy: Another process or another `open` has the file open.
            InvalidQuery: The key is no key, or the memory is on a server.
        """
        self._core.store.rekey(Key.check_given(key))

    def export(
        self, path: str | PathLike[str], *, format: ExportFormat = "jsonl", progress: Progress | None = None
    ) -> None:
        """Write every turn where `import_` reads it; only the owner can read what is written.

        Args:
            path: The file. One that exists is replaced once the export is complete, and keeps its permissions. For
                Markdown a new or empty folder.
            format: "jsonl" writes turns with their facts, a line each, and the places of forgotten ones, without a word
                of them; "markdown" a file a session for people to read, without facts, which are read from the turns
                again.
            progress: Called with the number of turns written since the last call.

        Raises:
            InvalidQuery: The format is neither.
            StoreError: The path is that of a database, a folder or a pipe; for Markdown, it exists and is not empty.
            DiskFull, StoreReadOnly: The system refuses to write; the old file is kept.
        """
        self._run(self._core.export(path, format, progress))

    def import_(self, path: str | PathLike[str], *, progress: Progress | None = None) -> AddReport:
        """Add the turns and facts of an export, once every line of it was validated.

        Turns that are stored already stay unchanged; one whose id names other content here is reported as refused.
        Facts whose words stand neither in their turn nor in those before it are left out, unless the memory's own
        extractor found them. After a crash, repeating the call completes the import.

        Args:
            path: A file that `export` wrote, or a folder of Markdown.
            progress: Called with the number of turns of each batch once it is durable.

        Raises:
            ImportFailed: The file is no whole and well-formed export; the message names the line, nothing is stored.
        """
        return self._run(self._core.import_(path, progress))

    def close(self) -> None:
        """Close the file; a second call does nothing. Other methods raise StoreClosed from then on."""
        self._core.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<evimem.Memory {self._core.store.name!r}>"

    def _run(self, flow: Flow[T]) -> T:
        """Drive a flow to its result, performing its effects here."""
        return run(flow, self._perform)

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, SideBySide):
            return self._side_by_side(effect)
        if isinstance(effect, Pause):
            return None
        with self._lending() if self._core.is_remote(effect) else nullcontext():
            if isinstance(effect, Embed):
                return embed_checked(self._core.embedder, effect.texts)
            if isinstance(effect, Rerank):
                return self._core.reranking and self._core.reranking.score_texts(effect.query, effect.texts)
            if isinstance(effect, Complete):
                return require_model(self._model).complete(effect)
            return perform_batch(self._model, effect)

    def _pieces(self, asked: Complete) -> Iterator[str | Reply]:
        yield from require_model(self._model).stream(asked)

    def _side_by_side(self, effect: SideBySide) -> list[Any]:
        from concurrent.futures import ThreadPoolExecutor

        most = workers_for(self._model)
        with ThreadPoolExecutor(most, thread_name_prefix="evimem-enrich") as workers:
            try:
                return run_side_by_side(
                    effect.flows, self._perform, self._waits, lambda one: workers.submit(self._perform, one), most
                )
            except KeyboardInterrupt:
                if hasattr(self._model, "close"):
                    self._model.close()  # else the requests under way would hold the interrupt up until their deadline
                raise

    def _waits(self, effect: Effect) -> bool:
        """Return whether an effect waits for a model or an embedder."""
        return self._core.remote or not isinstance(effect, Embed)


def perform_batch(model: Any, effect: StartBatch | CollectBatch) -> Any:
    """Perform an effect of the Batch API. Raise InvalidQuery for a model that has none."""
    if not hasattr(model, "start_batch"):
        raise InvalidQuery(f"{type(model).__name__} has no batch service; use enrich(), which asks turn by turn")
    if isinstance(effect, StartBatch):
        return model.start_batch(effect.requests)
    return model.collect_batch(effect.batch_id, effect.requests)
