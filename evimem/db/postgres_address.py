"""The address of a PostgreSQL server, read strictly: a part of a password is never taken for a host or a database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from ..errors import InvalidQuery

DEFAULT_SCHEMA = "evimem"
KEY = "evimem_key"  # the key by which users are signed, for a role that cannot read it
SCHEMA = "evimem_schema"  # where the tables stand, so that several installations share a database
# Settings that each transaction sets anew, so that an address which sets them would be ignored.
OVERRIDDEN = re.compile(
    r"search_path|role|session_\w+|lock_timeout|default_transaction_\w+|transaction_\w+|row_security|client_encoding"
    r"|evimem\..*"
)
_ESCAPED = r"(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_.-]*|%2[Ff](?:[\w.-]|%[0-9A-Fa-f]{2})*)(?::\d{1,5})?"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:(?P<role>{_ESCAPED}*)(?::(?P<password>(?:{_ESCAPED}|:)*))?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)(?:/(?P<database>(?:[\w.~$-]|%[0-9A-Fa-f]{{2}})*))?(?:\?(?P<query>.*))?",
    re.ASCII,
)
_SETTING = re.compile(r"(?:-c\s*|--)([A-Za-z_.-]+)=((?:[^\s\\]|\\.)*)")
_PLACE = re.compile(r"[^=&?#\n\r\t@]{0,300}")  # of a place that an error may show


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """An address that was read: `name` is the only part of it that messages show.

    `parameters` are those of libpq, by name.
    """

    name: str
    schema: str
    parameters: dict[str, str] = field(repr=False)
    key: str | None = field(repr=False)


def parse_address(address: str) -> ServerAddress:
    """Return the parts of an address, `postgresql://role:password@host:port/database?parameter=value`.

    Raises:
        InvalidQuery: It cannot be read, or has settings that cannot be honoured. No part of it is shown.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InvalidQuery(
            "the address of the server cannot be read; expected postgresql://role:password@host:port/database, then ? "
            "before the first parameter and & before each other one. In a role, a password and a value write @ / ? # & "
            "= % and spaces as %40 %2F %3F %23 %26 %3D %25 and %20, or keep the password in ~/.pgpass"
        )
    given = _read_parameters(found["query"] or "")
    key, schema = given.pop(KEY, None), given.pop(SCHEMA, DEFAULT_SCHEMA)
    if key is not None and re.fullmatch(r"[0-9A-Fa-f]{128}", key) is None:
        raise InvalidQuery(f"{KEY} of the address is not the key of a server; expected 128 hex digits")
    # of a schema: `_key` is added to it, and 63 bytes are a name's end
    if re.fullmatch(r"[a-z_][a-z0-9_]{0,58}", schema) is None or schema.startswith("pg_") or schema.endswith("_key"):
        raise InvalidQuery(
            f"{SCHEMA} of the address names no schema; expected at most 59 characters of a-z, 0-9 and _ that begin "
            "with a letter or _, not with pg_, and do not end with _key"
        )
    _check_options(given.get("options", ""))
    parameters = _parse_host_part(found) | given
    for name, value in parameters.items():
        if re.fullmatch(r"\w*timeout|keepalives\w*", name) and not value.isdecimal():
            raise InvalidQuery(f"{name} of the address is not a whole number; expected seconds, or milliseconds")
    shown = ",".join(_format_hosts(parameters))
    database = parameters.get("dbname", "")
    if not (_PLACE.fullmatch(shown) and _PLACE.fullmatch(database) and len(database.encode()) <= 63):
        raise InvalidQuery("the host or the database of the address is no name of one; expected letters and digits")
    name = f"postgresql://{shown}/{database}" + (f"?{SCHEMA}={schema}" if schema != DEFAULT_SCHEMA else "")
    return ServerAddress(name, schema, parameters, None if key is None else key.lower())


def show_address(address: str) -> str:
    """Return host, port and database of an address, and nothing of one that cannot be read."""
    try:
        return parse_address(address).name
    except InvalidQuery:
        return "postgresql://..."


def _check_options(options: str) -> None:
    """Raise InvalidQuery for settings of a connection that its transactions would not keep."""
    rest = _SETTING.sub("", options)
    if rest.strip():
        raise InvalidQuery(
            "options of the address cannot be read; expected -c name=value, escaped as -c%20name%3Dvalue"
        )
    for name, _ in _SETTING.findall(options):
        if OVERRIDDEN.fullmatch(name.replace("-", "_").lower()):
            raise InvalidQuery(
                "options of the address set what each transaction sets itself, such as the search path, the role or "
                f"the isolation: leave that out. {SCHEMA}=name keeps the tables in a schema of your choice"
            )


def _read_parameters(query: str) -> dict[str, str]:
    """Return the parameters of an address by name."""
    given: dict[str, str] = {}
    for one in query.split("&") if query else ():
        found = re.fullmatch(r"([a-z_]+)=((?:[^%&=@?#\s]|%[0-9A-Fa-f]{2})*)", one)
        if found is None:
            raise InvalidQuery(
                "a parameter of the address cannot be read; expected ?name=value&name=value, with each value escaped"
            )
        name, value = found.groups()
        if name in given:
            raise InvalidQuery("the address gives a parameter twice; expected each once")
        # Not honoured: texts are UTF-8, and the file of a service may say anything.
        if name in {"client_encoding", "replication", "service"}:
            raise InvalidQuery(f"{name} of the address cannot be honoured; leave it out")
        given[name] = _unescape(value)
    return given


def _parse_host_part(found: re.Match[str]) -> dict[str, str]:
    """Return the part before the parameters, by the names of libpq."""
    hosts = [re.fullmatch(r"(.*?)(?::(\d+))?", one) for one in found["hosts"].split(",")]
    names = [_unescape(one[1].strip("[]")) for one in hosts if one]
    ports = [one[2] or "" for one in hosts if one]
    parts = {
        "host": ",".join(names) if any(names) else "",
        "port": ",".join(ports) if any(ports) else "",
        "user": _unescape(found["role"] or ""),
        "password": _unescape(found["password"] or ""),
        "dbname": _unescape(found["database"] or ""),
    }
    return {name: text for name, text in parts.items() if text}


def _format_hosts(parameters: dict[str, str]) -> list[str]:
    hosts = parameters.get("host", parameters.get("hostaddr", "")).split(",")
    ports = parameters.get("port", "").split(",")
    ports = ports * len(hosts) if len(ports) == 1 else [*ports, *[""] * len(hosts)][: len(hosts)]
    pairs = zip(hosts, ports, strict=True)
    return [f"{f'[{host}]' if ':' in host else host}{port and f':{port}'}" for host, port in pairs]


def _unescape(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        pass
    raise InvalidQuery("the address has an escape (%) that is not UTF-8; expected each byte of a character as %XX")
