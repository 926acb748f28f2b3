"""The explorer's pages over HTTP: their twins in JSON, texts that stay texts, changes by its own forms only."""

import json
import re
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem
from evimem.calibration import read_labelled
from evimem.loaders import load
from evimem.loaders.examples import load_example
from evimem.loops import LOOPS, VARIANTS
from evimem.pages.answer_pages import USUAL_LOOPS
from evimem.pages.explorer import PAGES
from evimem.pages.render_html import SCRIPT, SCRIPT_SHA256, render_trace_file
from evimem.pages.sources import OneMemory, PoolOfMemories
from evimem.testing import ScriptedModel
from evimem.types.marked_text import cut_pieces, mark_pieces, shorten
from evimem.types.trace import Stopped
from tests.pages.conftest import TOKEN, Asking, Elements
from tests.replies import SUPPORTED

WHEN = "When did Mira adopt her puppy?"
JUDGED = {"tier": "exact", "confidence": 0.9, "requirements": SUPPORTED, "gaps": [], "next_query": "", "reason": ""}
DRAFT = {"steps": [], "answer": "On 8 March 2024.", "citations": [{"id": "e1", "quote": ""}]}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>'\"></mark></textarea></title>{{ 7777*7777 }}&amp;"
EVERY_PAGE = (
    "ask", f"ask?q={WHEN}", "ask?q=How+old+is+Bob%3F", "block", f"block?q={WHEN}&why=s7:9", "find",
    "find?q=puppy&why=s11:6", "timeline", "timeline?day=2024-06-18", "people", "people?name=Tomas", "why",
    f"why?q={WHEN}", "compare", "compare?q=boat", "import", "corrections", "forget", "forget?kind=session&value=s3",
    "health", "turn?id=s1:4", "turns", "turns?day=2024-03-12", "turns?session=s3",
)  # fmt: skip


@pytest.mark.parametrize("address", EVERY_PAGE)
def test_each_page_is_small_whole_and_has_a_twin_in_json(exploring, address):
    page = exploring.page(f"/{address}")
    assert len(page.encode()) < 200_000
    assert isinstance(exploring.data(f"/{address}"), dict)
    tags = Elements(page).tags
    assert [attrs for tag, attrs in tags if tag == "script"] == [{"src": f"static/{SCRIPT}", "defer": None}]
    assert [name for _, attrs in tags for name in attrs if name.startswith("on") or name == "style"] == []
    assert [tag for tag, _ in tags if tag in {"style", "iframe", "img", "object"}] == []
    linked = [attrs.get("href") or attrs.get("src") or attrs.get("action") or "" for _, attrs in tags]
    assert [one for one in linked if "//" in one] == []


def test_the_twin_of_an_answer_is_the_answer_and_its_marks_are_its_quotes(exploring, friends):
    answer = friends.ask(WHEN)
    told = exploring.data(f"/ask?q={WHEN}")
    assert told["answer"]["text"] == answer.text
    assert {"phrase": "last Friday", "words": "8 March 2024"} in told["dates"]["s1:4"]
    assert "8 March 2024" in Elements(exploring.page(f"/ask?q={WHEN}")).text
    assert told["answer"]["trace"] == answer.trace.to_dict()
    marks = Elements(exploring.page(f"/ask?q={WHEN}")).marks
    assert sorted(marks) == sorted(one.quote for one in answer.citations)
    assert 0 < told["view"]["threshold"] < told["view"]["sufficiency"] <= 1


def test_marks_are_the_quotes_of_every_question_about_the_example(exploring, friends):
    for question in ("How many pieces did Tomas sell at the craft fair?", "Who has a boat?", "When is the wedding?"):
        cited = friends.ask(question).citations
        marks = Elements(exploring.page(f"/ask?q={question}")).marks
        assert sorted(marks) == sorted(one.quote for one in cited if one.span is not None)


def test_the_headline_of_a_quotation_states_something_where_a_quoted_turn_does(exploring, friends):
    question = "Which one, and where does it lock?"
    asking, stating = friends.ask(question).citations[:2]
    assert asking.quote.endswith("?")
    headline = re.search('<p class="said">(.*?)</p>', exploring.page(f"/ask?q={question}"))
    assert headline
    assert stating.quote[:30] in headline[1]


def test_an_abstention_says_why_and_what_is_missing(exploring, friends):
    answer = friends.ask("How old is Bob?")
    page = Elements(exploring.page("/ask?q=How+old+is+Bob%3F")).text
    assert answer.abstained
    assert answer.reason in page
    assert all(gap.text in page for gap in answer.gaps)


def test_a_kept_answer_has_an_address_of_its_own_and_is_named_by_the_turns_it_cites(exploring, friends):
    sent = exploring.send(f"ask?q={WHEN}", q=WHEN)
    number = exploring.data("/why")["traces"][0]["number"]
    assert (sent.status_code, str(sent.url)) == (200, f"http://127.0.0.1/ask?n={number}")
    assert exploring.data(f"/ask?n={number}")["answer"]["text"] == friends.ask(WHEN).text
    assert exploring.data(f"/why?n={number}")["trace"] == friends.trace(number).to_dict()
    assert exploring.data("/turn?id=s1:4")["traces"][0] == {"number": number, "question": WHEN, "cited": True}


def trace_end(memory):
    return next(event.reason for event in memory.ask(WHEN).trace if isinstance(event, Stopped))


def test_a_trace_has_its_rounds_and_which_turn_supports_which_requirement(exploring, friends):
    view = exploring.data(f"/why?q={WHEN}")["view"]
    (first,) = view["rounds"]
    assert (first["queries"][0]["query"], first["ended"]) == (WHEN, trace_end(friends))
    assert {one["id"]: "s1:4" in one["witnesses"] for one in view["requirements"]}["time"]
    page = Elements(exploring.page(f"/why?q={WHEN}"))
    assert trace_end(friends) in page.text
    assert ("table", {"class": "matrix"}) in page.tags


def test_the_block_is_shown_as_a_model_gets_it_with_each_turn_left_out_and_why(exploring, friends):
    message = "What is Mira allergic to?"
    shown = exploring.data(f"/block?q={message}&tokens=300")
    block = friends.block(message, tokens=300)
    assert (shown["block"]["text"], shown["block"]["tokens"]) == (block.text, block.tokens)
    assert block.text in Elements(exploring.page(f"/block?q={message}&tokens=300")).text
    assert [one["tokens"] for one in shown["sizes"]] == [300, 800, 1500, 4000]
    inside = {turn.id for turn in block.turns}
    assert shown["left_out"]
    assert all(one["hit"]["turn"]["id"] not in inside and one["reason"] for one in shown["left_out"])


def test_a_named_turn_is_told_why_it_is_not_in_the_block(exploring, friends):
    message = "What is Mira allergic to?"
    inside = friends.block(message, tokens=300).turns[0].id
    assert "it is in the block" in exploring.data(f"/block?q={message}&tokens=300&why={inside}")["named"]["reason"]
    outside = exploring.data(f"/block?q={message}&tokens=300&why=I+sold+nine+pieces")["named"]
    assert outside["turn"]["id"] == "s11:6"
    assert outside["reason"]


def test_a_turn_far_below_the_block_is_told_its_rank_and_that_of_the_last_line(exploring, friends):
    message = "What is Mira allergic to?"
    hits = friends.search(message, k=183)
    inside = {turn.id for turn in friends.block(message, tokens=300).turns}
    last = max(rank for rank, hit in enumerate(hits[:30], 1) if hit.turn.id in inside)
    named = exploring.data(f"/block?q={message}&tokens=300&why={hits[99].turn.id}")["named"]
    assert (named["rank"], named["cut"]["rank"]) == (100, last)
    page = exploring.page(f"/block?q={message}&tokens=300&why={hits[99].turn.id}")
    assert f"The last line of the block is at rank {last}" in page


def test_words_that_no_turn_has_name_no_turn(exploring):
    for page in ("/block?q=puppy&why=elephants", "/find?q=puppy&why=elephants"):
        assert "No turn has these words." in exploring.page(page)
        assert not exploring.data(page).get("named")


def test_words_that_several_turns_have_list_them_those_of_the_user_first(memory):
    for number, role in enumerate(("assistant", "user", "assistant"), 1):
        memory.add(role, f"The ferry number {number} leaves at noon.", time="2024-03-12T18:20", id=f"t{number}")
    shown = Asking(OneMemory(memory, "m")).data("/block?q=ferry&why=ferries+leaving")
    assert shown["named"]["turn"]["id"] == "t2"
    assert {turn["id"] for turn in shown["candidates"]} == {"t1", "t3"}


def test_a_block_counts_the_turns_that_the_search_did_not_find(exploring):
    shown = exploring.data("/block?q=What+is+Mira+allergic+to%3F&tokens=300")
    seen = shown["block"]["turns"] + [one["hit"]["turn"] for one in shown["left_out"]]
    assert 183 - len({turn["id"] for turn in seen}) == shown["below"] + shown["not_found"]
    assert f"{shown['not_found']} more turns are not among the 30 best" in exploring.page(
        "/block?q=What+is+Mira+allergic+to%3F&tokens=300"
    )


def test_an_empty_block_says_why(exploring):
    shown, page = exploring.data("/block?q=thanks!"), exploring.page("/block?q=thanks!")
    assert "a block is made from 50%" in shown["empty"]
    assert "The block is empty." in page
    assert [one["reason"] for one in shown["left_out"]] == [None] * 8  # the search has nothing to do with it


def test_a_search_shows_its_scores_its_facets_and_the_rank_of_a_turn(exploring, friends):
    hits = friends.search("puppy", k=183)
    shown = exploring.data("/find?q=puppy&why=s11:6")
    rank = next(rank for rank, hit in enumerate(hits, 1) if hit.turn.id == "s11:6")
    assert [one["turn"]["id"] for one in shown["hits"]] == [hit.turn.id for hit in hits[:10]]
    assert shown["hits"][0]["parts"] == pytest.approx(dict(hits[0].parts))
    assert shown["named"]["rank"] == rank
    assert shown["named"]["short"]
    speakers = next(one for one in shown["facets"] if one["name"] == "speaker")
    assert sum(one["count"] for one in speakers["values"]) == 100
    assert "s1:4" not in [one["turn"]["id"] for one in exploring.data("/find?q=cello&k=10")["hits"]]
    assert exploring.data("/find?q=cello&why=s1:4")["named"]["short"]
    assert "its speaker is Tomas" in exploring.data("/find?q=puppy&why=s11:6&speaker=Mira")["named"]["reason"]
    assert {one["turn"]["time"][:7] for one in exploring.data("/find?q=puppy&month=2024-12")["hits"]} == {"2024-12"}


def test_a_turn_shows_its_words_dates_facts_and_neighbours(exploring, friends):
    shown = exploring.data("/turn?id=s1:4")
    assert shown["turn"] == friends.turn("s1:4").to_dict()
    assert [(one["phrase"], one["words"]) for one in shown["dates"]] == [("last Friday", "8 March 2024")]
    assert [one["id"] for one in shown["around"]] == [turn.id for turn in friends.context("s1:4", 3, 3)]
    assert Elements(exploring.page("/turn?id=s1:4")).marks == ["last Friday"]


def test_people_show_what_was_stated_newest_first(exploring, friends):
    known = [fact.to_dict() for fact in friends.facts(about="Tomas")]
    assert exploring.data("/people?name=Tomas")["facts"] == known
    assert {one["name"] for one in exploring.data("/people")["speakers"]} == {"Mira", "Tomas"}


def test_a_person_is_shown_with_other_names_that_were_stated(memory):
    memory.add("Mira", "My sister Katherine plays the oboe.", time="2024-03-12T18:20")
    memory.add("Mira", "My sister Ruth works at the mill.", time="2024-03-12T18:21")
    exploring = Asking(OneMemory(memory, "m"))
    shown = exploring.data("/people?name=Katherine")
    assert shown["aliases"] == ["Mira's sister"]
    assert "Ruth" not in str(shown["facts"])  # another sister is another person
    assert "Also called" in exploring.page("/people?name=Katherine")


def test_the_traces_are_listed_with_the_number_by_which_a_command_names_them(exploring, friends):
    number = friends.keep_trace(friends.ask(WHEN).trace)
    page = exploring.page("/why")
    assert f'<td class="nums">{number}</td><td><a href="why?n={number}">{WHEN}</a>' in page
    assert f'<a href="ask?n={number}">its answer</a>' in page


def test_the_time_line_counts_the_turns_of_each_day_and_leads_to_them(exploring, friends):
    line = exploring.data("/timeline?month=2024-06")
    held = list(friends.turns())
    assert sum(one["turns"] for one in line["days"]) == len(held)
    assert {one["day"] for one in line["days"]} == {turn.time.date().isoformat() for turn in held}
    (day,) = line["sessions"]
    listed = exploring.data(f"/turns?day={day['day']}")["turns"]
    assert len(listed) == sum(one["turns"] for one in day["sessions"])


def test_pages_of_a_list_show_each_turn_once(exploring, friends):
    seen, address = [], "/turns"
    while address:
        shown = exploring.data(address)
        seen += [turn["id"] for turn in shown["turns"]]
        more = shown["more"]
        address = more and f"/turns?after={more['after']}&skip={more['skip']}"
    assert seen == [turn.id for turn in friends.turns(limit=1_000)]


def test_forgetting_is_previewed_and_then_proven(exploring, friends, friends_path):
    text = friends.turn("s1:4").text
    assert text.encode() in friends_path.read_bytes() + friends_path.with_name(f"{friends_path.name}-wal").read_bytes()
    preview = exploring.data("/forget?kind=turn&value=s1:4")["preview"]
    assert (preview["count"], preview["facts"], preview["stays"]) == (1, 2, 182)
    assert friends.turn("s1:4").text == text
    answer = exploring.send("forget?kind=turn&value=s1:4", kind="turn", value="s1:4")
    shown = Elements(answer.text).text
    assert "1 id asked for again: 0 found" in shown
    assert re.search(r"1 erased text looked for in the [\d,]+ bytes of \d files: 0 found", shown)
    assert exploring.page("/turn?id=s1:4", 404)


def test_a_turn_is_corrected_and_its_old_words_are_gone(exploring, friends):
    exploring.send("turn?id=s1:4", id="s1:4", text="We adopted a kitten\r\nlast Friday.")
    assert friends.turn("s1:4").text == "We adopted a kitten\nlast Friday."
    page = exploring.page("/turn?id=s1:4")
    assert "Lurcher" not in page
    at = datetime.fromisoformat(friends.turn("s1:4").metadata["corrected_at"])
    assert f"Corrected on {at.day} {at:%B %Y}" in page
    assert "As it was said" in exploring.page("/turn?id=s1:5")


def test_a_saved_correction_says_what_was_erased_with_the_old_words(exploring, friends):
    friends.enrich()
    friends.keep_trace(friends.ask(WHEN).trace)
    facts = len(friends.facts(["s1:4"]))
    saved = Elements(exploring.send("turn?id=s1:4", id="s1:4", text="We adopted a kitten.").text).text
    assert f"Saved. The old words were erased with {facts} facts and 1 kept trace that read them." in saved
    again = Elements(exploring.send("turn?id=s1:4", id="s1:4", text="We adopted a kitten.").text).text
    assert "Nothing changed" in again


def test_an_error_stands_above_the_form_that_was_filled_in(exploring):
    filled = {"/forget?kind=turn&value=nope": (404, "nope"), "/find?q=puppy&k=abc": (422, "puppy"),
              "/block?q=puppy&tokens=many": (422, "puppy"), "/turn?id=nope": (404, "nope")}  # fmt: skip
    for address, (status, value) in filled.items():
        page = exploring.page(address, status)
        inputs = [attrs.get("value") for tag, attrs in Elements(page).tags if tag == "input"]
        assert (address, value in inputs) == (address, True)
        assert 'role="alert"' in page
        assert not re.search("UnknownTurn|InvalidQuery|add\\(\\)", page)


def test_a_correction_that_is_refused_keeps_the_words_that_were_sent(exploring, friends):
    sent = exploring.send("turn?id=s1:4", id="s1:4", text="kitten " * 200_000)
    assert sent.status_code == 422
    assert "kitten kitten" in sent.text
    assert 'role="alert"' in sent.text


def test_an_unknown_address_has_a_page_with_links_that_lead_on(exploring):
    assert "There is no page at this address." in exploring.page("/nope", 404)
    assert 'href="../../ask"' in exploring.page("/a/b/nope", 404)


def test_the_first_page_says_how_it_is_used_with_questions_that_can_be_followed(exploring):
    page = Elements(exploring.page("/ask"))
    assert "This is the memory of a chatbot" in page.text
    assert sum((attrs.get("href") or "").startswith("ask?q=") for _, attrs in page.tags) == 3
    assert set(re.findall(r"<dt>(\w+)</dt>", exploring.page("/ask"))) == {"turn", "block", "trace", "loop", "iris"}


def test_the_menus_of_a_comparison_list_each_loop_once_the_usual_five_first(exploring):
    tags = Elements(exploring.page("/compare")).tags
    assert set(USUAL_LOOPS) == set(LOOPS)
    menus = [tag for tag, _ in tags if tag in ("select", "option", "optgroup")]
    assert menus == ["select", *["option"] * 5, "optgroup", *["option"] * len(VARIANTS)] * 2


def test_the_bar_of_a_compared_answer_is_as_long_as_its_figure(exploring):
    page, sides = exploring.page("/compare?q=boat"), exploring.data("/compare?q=boat")["sides"]
    bars = [float(one) for one in re.findall(r'class="fill" x="0" y="4" width="([\d.]+)"', page)]
    assert bars == [pytest.approx(200 * one["answer"]["confidence"], abs=0.1) for one in sides]


def test_a_turn_to_be_forgotten_is_found_by_its_words(exploring):
    assert [turn["id"] for turn in exploring.data("/forget?words=sold+nine+pieces")["found"]] == ["s11:6"]
    assert "forget?kind=turn&amp;value=s11%3A6" in exploring.page("/forget?words=sold+nine+pieces")


def test_no_work_is_offered_where_nothing_waits(exploring, friends):
    friends.enrich()
    assert 'value="enrich"' not in exploring.page("/health")


def test_a_session_of_several_days_is_shown_with_its_dates(memory):
    for time in ("2024-09-01T09:00", "2024-11-03T10:02"):
        memory.add("Mira", "Hello.", time=time, session="s")
    assert "1 September 09:00 to 3 November 10:02" in Asking(OneMemory(memory, "m")).page("/timeline")


def test_marks_are_kept_as_questions_that_calibrate_reads(exploring, tmp_path):
    for question, turn, mark in ((WHEN, "s1:4", "outdated"), ("Who is Bob?", "", "wrong"), (WHEN, "s1:4", "right")):
        exploring.send(f"ask?q={WHEN}", question=question, turn=turn, mark=mark)
        exploring.client.post("/corrections", data={"question": question, "turn": turn, "mark": mark,
            "form_token": re.findall(r'form_token" value="(\w+)', exploring.page(f"/ask?q={WHEN}"))[0]})  # fmt: skip
    read = list(read_labelled(tmp_path / "labels.jsonl"))
    assert [(one.question, one.answerable) for one in read] == [(WHEN, True), ("Who is Bob?", False)]
    assert exploring.data("/corrections")["answerable"] == 1


def test_an_import_tells_what_was_left_out_and_where(exploring, friends):
    lines = [
        json.dumps({"speaker": "Mira", "text": "The plums are ripe.", "time": "2025-03-01T10:00"}),
        '{"speaker": 1}',
    ]
    held = re.findall(r'form_token" value="(\w+)', exploring.page("/import"))[0]
    file = {"file": ("chat.jsonl", "\n".join(lines).encode())}
    answer = exploring.client.post("/import.json", data={"form_token": held}, files=file).json()
    assert (answer["report"]["added"], answer["refusals"]) == (1, 1)
    assert answer["refused"][0]["place"]
    assert answer["refused"][0]["reason"]
    assert friends.search("plums", k=1)[0].turn.text == "The plums are ripe."


def upload(asking, name, content):
    held = re.findall(r'form_token" value="(\w+)', asking.page("/import"))[0]
    return asking.client.post("/import.json", data={"form_token": held}, files={"file": (name, content)}).json()


def test_an_uploaded_table_that_was_ingested_before_is_stored_already(exploring, friends, tmp_path):
    file = tmp_path / "plums.csv"
    file.write_text("speaker,text,time\nMira,The plums are ripe.,2025-03-01 10:00\n", encoding="utf-8")
    (found,) = load(file)
    friends.extend(found.turns)
    report = upload(exploring, "plums.csv", file.read_bytes())["report"]
    assert (report["added"], report["existing"]) == (0, 1)


@pytest.mark.parametrize("name", ["../../plums.csv", "C:\\chats\\plums.csv"])
def test_the_name_of_an_upload_is_its_last_part_only(exploring, friends, name):
    upload(exploring, name, b"speaker,text,time\nMira,The plums are ripe.,2025-03-01 10:00\n")
    assert friends.search("plums", k=1)[0].turn.session == "plums"


def test_health_shows_what_the_memory_says_of_itself(exploring, friends):
    assert exploring.data("/health")["health"] == friends.health().to_dict()
    assert exploring.send("health", action="check").status_code == 200


def test_a_form_without_the_token_of_a_page_or_from_another_site_changes_nothing(exploring, friends):
    fields = {"kind": "turn", "value": "s1:4"}
    assert exploring.client.post("/forget", data=fields).status_code == 403
    held = re.findall(r'form_token" value="(\w+)', exploring.page("/forget?kind=turn&value=s1:4"))[0]
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        sent = exploring.client.post("/forget", data={**fields, "form_token": held}, headers=headers)
        assert sent.status_code == 403
    assert exploring.client.put("/forget", data=fields).status_code == 405
    assert friends.turn("s1:4").id == "s1:4"


def test_a_token_is_needed_and_leaves_the_address_at_once(friends):
    asking = Asking(OneMemory(friends, "friends"))
    asking.client.cookies.clear()
    for address in ("/", "/ask", "/ask.json", "/health", "/nothing"):
        assert asking.client.get(address).status_code == 401
        assert asking.client.get(f"{address}?token=wrong", follow_redirects=False).status_code == 401
    first = asking.client.get(f"/ask?q=x&token={TOKEN}", follow_redirects=False)
    assert (first.status_code, first.headers["location"]) == (303, "/ask?q=x")
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in first.headers["set-cookie"].split(";")}
    assert asking.client.get("/ask").status_code == 200
    bearer = {"authorization": f"Bearer {TOKEN}"}
    asking.client.cookies.clear()
    assert asking.client.get("/ask.json", headers=bearer).status_code == 200


def test_every_response_forbids_scripts_of_others_and_is_not_stored(exploring):
    for address in ("/ask", "/ask.json", "/nothing", "/turn?id=nobody", "/"):
        answer = exploring.client.get(address, follow_redirects=False)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"


def test_another_name_of_the_host_is_refused(served):
    asked = urllib.request.Request(served, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(asked)
    with refused.value as answer:
        assert answer.status == 421


def test_an_unknown_turn_or_a_bad_parameter_is_a_page_that_says_so(exploring):
    assert "No turn has the id &#39;nope&#39;." in exploring.page("/turn?id=nope", 404)
    assert exploring.data("/find?q=x&k=abc", 422)["kind"] == "InvalidQuery"
    for address in (
        "/timeline?day=yesterday", "/find?q=x&where=%5B1%5D", "/forget?kind=all&value=x", "/compare?q=x&a=y",
        "/turns?skip=-1", "/turns?after=x", "/why?n=999",
    ):  # fmt: skip
        exploring.page(address, 422)


@pytest.fixture
def hostile(memory):
    memory.add(HOSTILE, HOSTILE, time="2024-03-12T18:20", session=HOSTILE, id=HOSTILE, caption=HOSTILE,
               metadata={HOSTILE: HOSTILE})  # fmt: skip
    memory.add("Mira", f"I adopted a cat, {HOSTILE}, last Friday.", time="2024-03-12T18:21", session=HOSTILE, id="b")
    return memory


def test_a_hostile_text_never_becomes_an_element(hostile, tmp_path):
    asking = Asking(OneMemory(hostile, HOSTILE), tmp_path / "labels.jsonl")
    named = {"q": HOSTILE, "id": HOSTILE, "name": HOSTILE, "kind": "session", "value": HOSTILE, "session": HOSTILE,
             "why": HOSTILE}  # fmt: skip
    for one in PAGES:
        answer = asking.client.get(f"/{one.path}", params=named)
        assert answer.status_code == 200, (one.path, answer.text)
        tags = Elements(answer.text).tags
        assert [attrs for tag, attrs in tags if tag in {"script", "img"}] == [
            {"src": f"static/{SCRIPT}", "defer": None}
        ]
        assert [name for _, attrs in tags for name in attrs if name.startswith("on")] == []
        assert "60481729" not in Elements(answer.text).text


def test_a_trace_as_a_file_loads_nothing_and_holds_the_trace(friends):
    answer = friends.ask(WHEN)
    page = render_trace_file(answer.trace, list(friends._core.store.find(["s1:4"])))
    found = Elements(page)
    assert [attrs for tag, attrs in found.tags if tag == "script"] == [{"type": "application/json", "id": "trace"}]
    held = page.partition('id="trace">')[2].partition("</script>")[0]
    assert evimem.Trace.from_json(held) == answer.trace
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="(?!#)', page)


def test_a_hostile_trace_stays_text_in_its_file(hostile):
    answer = hostile.ask("Who adopted a cat?")
    turns = list(hostile._core.store.find([HOSTILE, "b"]))
    tags = Elements(render_trace_file(answer.trace, turns)).tags
    assert [attrs for tag, attrs in tags if tag in {"script", "img"}] == [{"type": "application/json", "id": "trace"}]


def test_a_lone_surrogate_a_nul_and_a_carriage_return_are_shown_and_told(memory):
    text = "one \ud800 two \x00 three\r\nfour"
    memory.add("Mira", text, time="2024-03-12T18:20", id="a")
    asking = Asking(OneMemory(memory, "m"))
    assert asking.data("/turn?id=a")["turn"]["text"] == memory.turn("a").text
    assert "three\r\nfour" in Elements(asking.page("/turn?id=a")).text


def test_a_pool_asks_whose_memory_it_is_and_shows_that_one_only(tmp_path):
    with evimem.MemoryPool(tmp_path / "users") as pool:
        for user, says in (("ana/1", "My cat is called Pelle."), ("bo", "My boat is called Nora.")):
            with pool.open(user) as memory:
                memory.add("user", says, time="2024-03-12T18:20")
        asking = Asking(PoolOfMemories(pool, "users", "ana/1"))
        assert 'name="user" value="ana/1"' in asking.page("/find?q=called")
        shown = asking.data("/find?q=called&user=ana/1")
        assert [one["turn"]["text"] for one in shown["hits"]] == ["My cat is called Pelle."]
        links = [attrs.get("href") or "" for tag, attrs in Elements(asking.page("/find?q=called&user=ana/1")).tags
                 if tag == "a" and not (attrs.get("href") or "").startswith("#")]  # fmt: skip
        assert [one for one in links if "user=ana%2F1" not in one] == []
        asking.page("/find?q=called&user=nobody", 422)
        assert "nobody" not in pool
        turn = shown["hits"][0]["turn"]["id"]
        address = f"forget?user=ana/1&kind=turn&value={turn}"
        erased = Elements(asking.send(address, user="ana/1", kind="turn", value=turn).text).text
        assert re.search("1 erased text looked for in the [0-9,]+ bytes of [1-9] files: 0 found", erased)


def test_pages_do_not_wait_for_the_facts_of_very_many_turns(memory):
    noon = datetime(2024, 3, 12, 12)
    cats = [(f"t{n}", f"We adopted cat {n}.", noon + timedelta(minutes=n)) for n in range(300)]
    turns = [evimem.Turn(turn_id, "s", "Mira", text, time) for turn_id, text, time in cats]
    memory.extend(turns)
    asking = Asking(OneMemory(memory, "m"))
    for address in (
        "/turn?id=t7",
        "/people?name=Mira",
        "/people",
        "/ask?q=cats",
        "/health",
        "/block?q=cat",
        "/find?q=cat",
    ):
        asking.page(address)
    assert memory.health().pending["facts"] == 300
    assert 'value="enrich"' in asking.page("/health")
    assert "300 turns wait to be read" in asking.page("/turn?id=t7")
    assert asking.data("/ask?q=cats&now=1")["answer"]["kind"]
    assert "facts" not in memory.health().pending


def test_pages_of_the_longest_turns_stay_small(memory):
    long, session = "We adopted a puppy in May 2023. " * 2_500, "s" * 512
    for n in range(3):
        turn = "i" * 511 + str(n)
        memory.add("Mira " * 100, f"{n} {long}", time="2024-03-12T18:20", id=turn, session=session, caption=long,
                   metadata={"note": long})  # fmt: skip
    memory.enrich()
    asking = Asking(OneMemory(memory, "m"))
    for address in (
        f"turn?id={turn}", "turns", "find?q=puppy", f"find?q=puppy&why={turn}", "ask?q=puppy", "people", "timeline",
        "why?q=Who+adopted+a+puppy", "block?q=puppy&tokens=4000", f"turns?session={session}", "compare?q=puppy",
        f"forget?kind=session&value={session}",
    ):  # fmt: skip
        assert len(asking.page(f"/{address}").encode()) < 200_000, address


def test_an_empty_memory_has_pages(memory):
    asking = Asking(OneMemory(memory, "empty"))
    for address in ("/", "/ask?q=x", "/block?q=x", "/find?q=x", "/timeline", "/people", "/why", "/health", "/turns"):
        asking.page(address)


def test_the_script_is_the_one_that_notice_names():
    content = (files("evimem.pages") / "static" / SCRIPT).read_bytes()
    notice = (Path(__file__).parent.parent.parent / "NOTICE").read_text(encoding="utf-8")
    assert sha256(content).hexdigest() == SCRIPT_SHA256
    assert f"{SCRIPT_SHA256}  {SCRIPT}" in notice


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(-3, 45), st.integers(-3, 45)), max_size=4))
def test_pieces_of_a_text_are_the_text_and_the_first_mark_is_its_span(text, spans):
    pieces = mark_pieces(text, spans)
    assert "".join(one.text for one in pieces) == text
    if spans:
        start, end = max(spans[0][0], 0), min(spans[0][1], len(text))
        assert "".join(one.text for one in pieces if one.number == 1) == text[start:end]


@given(st.text(max_size=400), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=4))
def test_cut_pieces_keep_each_mark_and_little_else(text, spans):
    pieces = mark_pieces(text, spans)
    cut = cut_pieces(pieces, 20)
    assert [one for one in cut if one.number] == [one for one in pieces if one.number]
    assert all(len(one.text) <= 24 for one in cut if not one.number)


@given(st.text(min_size=1, max_size=300), st.data())
def test_a_shortened_text_keeps_the_marked_characters(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(len(text), start + 60)))
    cut, moved = shorten(text, 120, (start, end))
    assert moved is not None
    assert cut[moved[0] : moved[1]] == text[start:end]


def test_a_model_is_asked_by_a_form_only_and_its_kept_answer_is_replayed(friends_path):
    model = ScriptedModel([json.dumps(JUDGED), json.dumps(DRAFT)])
    with evimem.open(friends_path, llm=model) as memory:
        asking = Asking(OneMemory(memory, "m"))
        for address in (f"/ask?q={WHEN}", f"/why?q={WHEN}", f"/compare?q={WHEN}"):
            asking.page(address)
        assert model.requests == []
        sent = asking.send(f"ask?q={WHEN}", q=WHEN)
        assert len(model.requests) == 2
        assert "On 8 March 2024." in Elements(sent.text).text
        address = str(sent.url).partition("127.0.0.1")[2]
        assert asking.data(address)["answer"]["usage"]["requests"] == 2
        assert len(model.requests) == 2


def test_pages_show_a_memory_on_a_server(postgres, tmp_path):
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        memory.extend(load_example("friends"))
        asking = Asking(OneMemory(memory, "server"))
        for address in EVERY_PAGE:
            asking.page(f"/{address}")
        assert "No bytes were searched" in asking.send("forget?kind=turn&value=s1:4", kind="turn", value="s1:4").text
