"""An address of a server is read in one way or refused, and no error shows a piece of a password or a key."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from urllib.parse import quote, unquote

import pytest

from evimem.db.postgres_address import parse_address, show_address
from evimem.errors import InvalidQuery
from tests.sizes import sizes

KEY = "0f" * 64
SECRET = "pa55"
AMBIGUOUS = [
    "postgresql://app:pa55@word@host/db",
    "postgresql://app:@pa55@host:1/db",
    "postgresql://app:pa55/word@host/db",
    "postgresql://app:12/pa55@host/db",
    "postgresql://app:pa55?word@host/db",
    "postgresql://app:12?pa55=word@host/db",
    "postgresql://app:12?dbname=pa55@host/db",
    "postgresql://app:pa55#word@host/db",
    "postgresql://app:pa55%word@host/db",
    "postgresql://app:%FFpa55@host/db",
    "postgresql://app:pa55 word@host/db",
    "postgresql://app:pa[55@host/db?x=pa55",
    "postgresql://app:pa55",
    "postgresql://[pa55",
    "postgresql://app@host/db?password=pa55&word&sslmode=require",
    "postgresql://app@host/db?password=a=pa55",
    "postgresql://app@host/db?password=pa55&password=pa55",
    "postgresql://app@host/db?password=pa55@host",
    f"postgresql://app@host/db&evimem_key={KEY}",
    f"postgresql://app@host&evimem_key={KEY}/db",
    f"postgresql://app@host/db?&evimem_key={KEY}",
    f"postgresql://app@host/db/evimem_key={KEY}",
    f"postgresql://app@host/db#evimem_key={KEY}",
    f"postgresql://app@host/db?evimem_key={KEY}pa55",
    f"postgresql://app@host/{KEY}",
    f"postgresql://app@host/db?host=x%26evimem_key%3D{KEY}",
    "postgresql://app@host/db?evimem_key=pa55",
    "postgresql://app@host:port/db?password=pa55",
    "postgresql://app@host/db?password=pa55&connect_timeout=soon",
]
NOT_HONOURED = [
    "options=-csearch_path%3Dstaging",
    "options=-c%20search_path%3Dstaging",
    "options=--search-path%3Dstaging",
    "options=-c%20jit%3Doff%20-cSearch_Path%3Dstaging",
    "options=-c%20role%3Dother",
    "options=-cevimem.tenant%3Dx",
    "options=-cdefault_transaction_isolation%3Dserializable",
    "options=staging",
    "service=prod",
    "client_encoding=LATIN1",
    "evimem_schema=Staging",
    "evimem_schema=pg_catalog",
    "evimem_schema=other_key",
    "evimem_schema=",
    "evimem_schema=a%3Bb",
]


@pytest.mark.parametrize("address", AMBIGUOUS)
def test_an_address_that_can_be_read_in_two_ways_is_refused_without_a_word_of_it(address: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        parse_address(address)
    assert SECRET not in str(caught.value)
    assert KEY[:8] not in str(caught.value)
    assert caught.value.__context__ is None
    assert show_address(address) == "postgresql://..."


@pytest.mark.parametrize("parameter", NOT_HONOURED)
def test_what_an_address_asks_for_in_vain_is_refused(parameter: str) -> None:
    with pytest.raises(InvalidQuery, match="address"):
        parse_address(f"postgresql://app@host/db?{parameter}")


def test_the_parts_of_an_address_are_what_it_says() -> None:
    found = parse_address(
        f"postgres://app:p%40%2F%26:x@[::1]:5433,db-2:5434/data?evimem_key={KEY.upper()}&evimem_schema=staging"
        "&options=-c%20statement_timeout%3D20s&sslmode=require"
    )
    assert (found.name, found.key) == ("postgresql://[::1]:5433,db-2:5434/data?evimem_schema=staging", KEY)
    assert found.parameters == {
        "host": "::1,db-2",
        "port": "5433,5434",
        "user": "app",
        "password": "p@/&:x",
        "dbname": "data",
        "options": "-c statement_timeout=20s",
        "sslmode": "require",
    }
    assert show_address("postgresql://app:pw@/db?host=/run/pg&port=1") == "postgresql:///run/pg:1/db"


@pytest.mark.parametrize("count", sizes(2_000, nightly=200_000, reduced=200))
def test_a_password_is_read_whole_or_the_address_is_refused(count: int) -> None:
    chance = Random(5)
    letters = "abyz09AZ@/:&?#%=+ ,;'\"[]{}()<>~!$*._-\\|^`\n\tüÄ"
    read = 0
    for _ in range(count):
        password = "".join(chance.choices(letters, k=chance.randint(1, 12)))
        address = f"postgresql://app:{password}@db.example:5432/data"
        with suppress(InvalidQuery):
            found = parse_address(address)
            read += 1
            assert found.name == "postgresql://db.example:5432/data"
            assert found.parameters["password"] == unquote(password)
        whole = parse_address(f"postgresql://app:{quote(password, safe='')}@db.example:5432/data")
        assert whole.parameters["password"] == password
    assert read > count / 20
