"""Breaks of the explorer: texts that become elements, forms of other sites, tenants, marks that are no quotes."""

from contextlib import contextmanager
from typing import Any

from jinja2 import Environment

from evimem.pages import explorer, render_html, visitors
from evimem.pages.sources import PoolOfMemories
from tests.breaks.patch import put
from tests.breaks.registry import breaks

PAGES = "tests/pages/test_explorer.py"


@breaks(gate=f"{PAGES}::test_a_hostile_text_never_becomes_an_element", says="assert")
def pages_do_not_escape() -> None:
    def unescaped(**given: Any) -> Environment:
        return Environment(**{**given, "autoescape": False})

    put(render_html, "Environment", unescaped)


@breaks(gate=f"{PAGES}::test_a_form_without_the_token_of_a_page_or_from_another_site_changes_nothing", says="403")
def forms_need_no_token() -> None:
    put(explorer, "_is_allowed_form", lambda request, form: True)


@breaks(gate=f"{PAGES}::test_a_form_without_the_token_of_a_page_or_from_another_site_changes_nothing", says="403")
def forms_of_other_sites_are_taken() -> None:
    put(visitors, "_has_same_origin", lambda headers, host: True)


@breaks(gate=f"{PAGES}::test_a_pool_asks_whose_memory_it_is_and_shows_that_one_only", says="Nora|InvalidQuery|400")
def pages_of_a_pool_show_one_memory_to_all() -> None:
    honest = PoolOfMemories.open_memory

    @contextmanager
    def open_memory(self: PoolOfMemories, user: str) -> Any:
        with honest(self, "bo") as memory:
            yield memory

    put(PoolOfMemories, "open_memory", open_memory)


@breaks(gate=f"{PAGES}::test_marks_are_the_quotes_of_every_question_about_the_example", says="assert")
def marks_begin_a_character_late() -> None:
    honest = render_html.cited_spans

    def cited_spans(turn: Any, citations: Any) -> Any:
        of_text, of_caption = honest(turn, citations)
        return [(start + 1, end) for start, end in of_text], of_caption

    put(render_html, "cited_spans", cited_spans)
