import pytest

from evimem.llm import request as prompts
from evimem.llm.shown_words import visible


@pytest.mark.parametrize(
    ("said", "number"),
    [(0.95, 0.95), ("0.95 (high)", 0.95), ("95%", 0.95), (95, 0.95), (1, 1.0), (0, 0.0), ("about 0.5", 0.5)],
)
def test_a_confidence_is_read_in_the_forms_that_models_use(said, number):
    assert prompts.confidence(said) == pytest.approx(number)


@pytest.mark.parametrize(
    ("said", "value"), [(True, True), ("Yes, it does", True), ("**no**", False), ("maybe", None), (1, None)]
)
def test_a_flag_is_yes_no_or_neither(said, value):
    assert prompts.flag(said) is value


def test_a_choice_ignores_case_and_decoration_and_nothing_else():
    assert prompts.CHAIN.read('{"type": "**MULTI-HOP**."}')["type"] == "multi_hop"
    assert prompts.CHAIN.read('{"type": "not direct"}')["type"] is None


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
        assert visible(said.replace("{}", hidden)) == said.replace("{}", "")
        assert all(
            visible(said.replace("{}", one)) == said.replace("{}", "") for one in set(hidden) - {*"\u200d\u200c\u180b"}
        )
    assert visible("a\u200db \u200cc\U0001f600\u200d!") == "ab c\U0001f600!"


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
    assert visible(said) == said


@pytest.mark.parametrize("said", ["none.", "None", "N/A", "**none**", "", " - ", None, "nothing", [], 10**400, True])
def test_words_that_mean_nothing_state_nothing(said):
    assert prompts.stated(said) == ""


def test_a_list_may_be_written_as_text():
    assert prompts.names("[e1, e2]; 'e3'") == ("e1", "e2", "e3")
    assert prompts.names("none") == prompts.names(None) == prompts.names(7) == ()
