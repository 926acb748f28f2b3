"""The JSON in a reply, however it is wrapped and thought about; the values in it; the answer as it arrives."""

import json

import pytest

from evimem.errors import ReplyError
from evimem.llm import request
from evimem.llm.json_reply import MAX_REPLY_JSON_CHARACTERS, MAX_STREAMED_CHARACTERS, AnswerStream, read_object
from evimem.text.prompt_text import remove_invisible

WANTED = ("tier",)
GOOD = {"tier": "exact", "confidence": 0.9}
BOTH = '{"tier": "exact", "confidence": 0.9}'


@pytest.mark.parametrize(
    "reply",
    [
        BOTH, f"```json\n{BOTH}\n```", f"Here is my verdict: {BOTH} I hope that helps.",
        f'<think>Perhaps {{"tier": "none"}}?</think>\n{BOTH}', f"It depends {{on the day}}, but {BOTH}",
        f"\ufeff{BOTH}", f"{BOTH}\nOnce more:\n```json\n{BOTH}\n```", '{"tier": "exact", "confidence": 0.9,}',
        "{'tier': 'exact', 'confidence': 0.9}", '{tier: exact, "confidence": 0.9}',
        '{"tier": "exact" "confidence": 0.9}', '{"tier": "exact", // sure\n "confidence": 0.9 /* quite */}',
    ],
)  # fmt: skip
def test_a_decorated_object_reads_like_a_bare_one(reply):
    assert read_object(reply, "judge", WANTED) == GOOD


TEXT = 'On "8" März 😀,\nat noon'
ANSWER = json.dumps({"steps": ['the "answer": "no"'], "answer": TEXT, "citations": [{"id": "e1", "quote": "x"}]})
DRAFT, LAST = '{"tier": "none", "confidence": 0.2}', BOTH
HARMONY = "<|channel|>analysis<|message|>{}<|end|>"
THOUGHTS = {
    "harmony": f"{HARMONY}<|start|>assistant<|channel|>final<|message|>",
    "harmony, JSON": f"{HARMONY}<|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    "harmony, two thoughts": HARMONY + "<|channel|>commentary<|message|>so {}<|channel|>final",
    "harmony, no final": HARMONY,
    "harmony, begun in the prompt": "<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "harmony, stripped": "analysisFirst {} outdated.assistantfinal",
    "harmony, stripped in lines": "analysis\n{}\nassistant\nfinal\n",
    "harmony, stripped twice": "analysis{}assistantcommentary to=x {}assistantanalysisNo. {}assistantfinal",
    "Gemma": "<|channel>thought\n{}<channel|>",
    "Magistral": "[THINK]First {}[/THINK]",
    "capitals": "[REASONING]{}[/REASONING]",
    "Kimi": "\u25c1think\u25b7{}\u25c1/think\u25b7",
    "Seed": "<seed:think>{}</seed:think>",
    "begin and end": "<|begin_of_thought|>{}<|end_of_thought|>\n<|begin_of_solution|>",
    "Cohere": "<|START_THINKING|>{}<|END_THINKING|>",
    "full width": "\uff1cthink\uff1e{}\uff1c/think\uff1e",
    "attributes": '<details type="reasoning" done="true">\n<summary>Thought</summary>{}</details>',
    "another end": "<thinking>{}</think>",
    "its end only": "Maybe {}? No. </think>",
    "twice": "<think>{}</think> Well. <think>or {}</think>",
    "its own mark within": "<think>I may write <think> here. {}</think>",
    "fence": "```thinking\n{}\n```\n",
    "comment": "<!-- {} -->",
    "Chinese": "\u3010\u601d\u8003\u3011{}\u3010/\u601d\u8003\u3011",
    **{
        name: f"<{name}>{{}}</{name}>"
        for name in ("think", "thinking", "reasoning", "analysis", "inner_monologue", "draft")
    },
}


def streamed(text):
    stream = AnswerStream()
    pieces = [stream.add(character) for character in text]
    assert max(map(len, pieces)) <= 1
    return "".join(pieces)


@pytest.mark.parametrize("thoughts", THOUGHTS.values(), ids=THOUGHTS)
def test_what_is_marked_as_thought_is_no_reply(thoughts):
    said = thoughts.replace("{}", DRAFT)
    assert read_object(f"{said}{LAST}", "judge", WANTED) == GOOD
    assert read_object(f"{said}\n```json\n{LAST}\n```", "judge", WANTED) == GOOD
    assert streamed(thoughts.replace("{}", '{"answer": "in Lisbon"}') + ANSWER) == TEXT


@pytest.mark.parametrize(
    "thoughts", ["<think>{}", "[THINK]{}", "<think>{}</think>", "analysis{}", "<|channel|>analysis{}"]
)
def test_nothing_but_thoughts_is_asked_for_again(thoughts):
    with pytest.raises(ReplyError, match="thought"):
        read_object(thoughts.replace("{}", DRAFT), "judge", WANTED)


@pytest.mark.parametrize("between", ["\n", "No, corrected:", "\n```\nNo:\n```json\n", "\n---\n", "<b>or</b>"])
def test_two_replies_that_differ_are_asked_for_again(between):
    with pytest.raises(ReplyError, match="differ"):
        read_object(f"Draft: {DRAFT}{between}{LAST}", "judge", WANTED)


@pytest.mark.parametrize("reply", ['{"tier": "none", "tier": "exact"}', "{tier: none, gaps: [{id: 1, id: 2}],}"])
def test_a_field_given_twice_is_asked_for_again(reply):
    with pytest.raises(ReplyError, match="twice"):
        read_object(reply, "judge", WANTED)
    assert read_object(f'{{"note": {{"a": 1, "a": 2}}}} {BOTH}', "judge", WANTED) == GOOD


@pytest.mark.parametrize("mark", ["<think>", "</think>", "assistantfinal", "[/THINK]", "<!--", "```thinking\\n"])
def test_a_mark_inside_a_value_is_a_word_of_it(mark):
    reason = json.loads(f'"I saw {mark} there"')
    assert read_object(json.dumps({**GOOD, "reason": reason}), "judge", WANTED)["reason"] == reason


def test_many_brackets_before_the_reply_do_not_hide_it():
    assert read_object("{x} [1] {y: 2 " * 100 + BOTH, "judge", WANTED) == GOOD


def test_an_inner_object_is_never_taken_for_the_cut_one_around_it():
    with pytest.raises(ReplyError):
        read_object('{"tier": "exact", "requirements": [{"id": "r1", "status": "open"}', "judge", WANTED)


def test_a_bare_list_stands_for_the_field_that_is_named():
    assert read_object('[{"subject": "Mira"}]', "extract", ("facts",), bare="facts") == {"facts": [{"subject": "Mira"}]}
    assert read_object("[]", "extract", ("facts",), bare="facts") == {"facts": []}


def test_numbers_that_json_does_not_know_are_missing():
    assert read_object('{"tier": "exact", "confidence": NaN, "x": -Infinity}', "judge", WANTED)["confidence"] is None


@pytest.mark.parametrize("text", [r"the \sum of \mathbf{x}", r"C:\Users\Mira", r"\u12 and \'"])
def test_an_escape_that_json_does_not_know_is_text(text):
    assert read_object(f'{{"tier": "{text}"}}', "judge", WANTED) == {"tier": text.replace("\\'", "'")}


def test_the_halves_of_a_surrogate_pair_are_joined_and_lone_ones_replaced():
    assert read_object('{"tier": "\\ud83d\\ude00"}', "judge", WANTED)["tier"] == "😀"
    assert read_object("{tier: 'a\ud800b',}", "judge", WANTED)["tier"] == "a\ufffdb"


@pytest.mark.parametrize(
    "reply",
    [
        "", "  ", "I can't help with that.", "<think>hm", "{", '{"other": 1}', "[]", "null", "<html>", "{" * 5_000,
        '{"a":' * 5_000,
    ],
)  # fmt: skip
def test_what_holds_no_wanted_field_is_a_typed_error(reply):
    with pytest.raises(ReplyError, match="judge model's reply"):
        read_object(reply, "judge", WANTED)


def test_a_reply_beyond_the_limit_is_refused_unread():
    with pytest.raises(ReplyError, match="at most"):
        read_object(BOTH + " " * MAX_REPLY_JSON_CHARACTERS, "judge", WANTED)


def test_the_answers_text_is_returned_as_it_arrives_and_nothing_else():
    assert streamed(f"```json\n{ANSWER}\n```") == TEXT


def test_what_was_sent_is_not_continued_by_another_text():
    stream = AnswerStream()
    pieces = [stream.add(piece) for piece in ('{"answer": "Rome"}', "</think>", '{"answer": "Porto, in June"}')]
    assert pieces == ["Rome", "", ""]


def test_a_reply_without_an_end_is_watched_no_longer():
    stream = AnswerStream()
    assert stream.add(f"<think>{'x' * MAX_STREAMED_CHARACTERS}") == stream.add(f"</think>{ANSWER}") == ""


@pytest.mark.parametrize(
    ("said", "number"),
    [(0.95, 0.95), ("0.95 (high)", 0.95), ("95%", 0.95), (95, 0.95), (1, 1.0), (0, 0.0), ("about 0.5", 0.5)],
)
def test_a_confidence_is_read_in_the_forms_that_models_use(said, number):
    assert request.confidence(said) == pytest.approx(number)


@pytest.mark.parametrize(
    ("said", "value"), [(True, True), ("Yes, it does", True), ("**no**", False), ("maybe", None), (1, None)]
)
def test_a_flag_is_yes_no_or_neither(said, value):
    assert request.flag(said) is value


def test_a_choice_ignores_case_and_decoration_and_nothing_else():
    assert request.CHAIN.read('{"type": "**MULTI-HOP**."}')["type"] == "multi_hop"
    assert request.CHAIN.read('{"type": "not direct"}')["type"] is None


HIDDEN = {
    "variation selectors": "\ufe0f\ufe00\U000e0100\U000e01ef", "Arabic letter mark": "\u061c",
    "invisible operators": "\u2061\u2062\u2063\u2064\u2065", "tags": "\U000e0001\U000e0041\U000e007f",
    "directions": "\u200e\u200f\u202a\u202e\u2066\u2069\u206a\u206f", "zero width": "\u200b\u2060\ufeff\u00ad\u034f",
    "fillers": "\u115f\u1160\u3164\uffa0", "annotations": "\ufff9\ufffa\ufffb", "notes": "\U0001d173\U0001d17a",
    "joiners": "\u200d\u200c\u200d\u180b", "controls": "\x00\x1b\x7f", "half a character": "\ud83d",
}  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_what_cannot_be_seen_is_left_out(hidden):
    for said in ("{}left {}to r{}ight{}", "\u0633{}\u0644\u0627\u0645", "\U0001f600{}\U0001f600"):
        assert remove_invisible(said.replace("{}", hidden)) == said.replace("{}", "")
        assert all(
            remove_invisible(said.replace("{}", one)) == said.replace("{}", "")
            for one in set(hidden) - {*"\u200d\u200c\u180b"}
        )
    assert remove_invisible("a\u200db \u200cc\U0001f600\u200d!") == "ab c\U0001f600!"


@pytest.mark.parametrize(
    "said",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937", "\u0d28\u0d4d\u200d ",
        "\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\U0001f469\u200d\U0001f467",
        "\U0001f9d8\U0001f3fd\u200d\u2640",
        "\u1820\u180b", "caf\u00e9\tau lait\n\u4eca\u65e5",
    ],
    ids=["Persian", "Hindi", "Malayalam", "Sinhala", "a family", "a tone", "Mongolian", "plain"],
)  # fmt: skip
def test_what_a_script_or_an_emoji_needs_stays(said):
    assert remove_invisible(said) == said


@pytest.mark.parametrize("said", ["none.", "None", "N/A", "**none**", "", " - ", None, "nothing", [], 10**400, True])
def test_words_that_mean_nothing_state_nothing(said):
    assert request.text_unless_it_says_none(said) == ""


def test_a_list_may_be_written_as_text():
    assert request.names("[e1, e2]; 'e3'") == ("e1", "e2", "e3")
    assert request.names("none") == request.names(None) == request.names(7) == ()
