from evimem.cli.markdown import text_of
from evimem.cli.page import BLANK, Heading, field, line, table


def test_a_page_becomes_markdown():
    page = [
        Heading("Run"),
        table(("name", "n"), [("a|b", 2)], right=("n",), title="Counts"),
        BLANK,
        line("all ", "of it"),
        field("from", "there"),
    ]
    assert text_of(page) == (
        "## Run\n\n## Counts\n\n| name | n |\n| --- | ---: |\n| a\\|b | 2 |\n\n\nall of it\n\nfrom: there\n\n"
    )
