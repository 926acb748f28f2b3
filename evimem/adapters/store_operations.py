"""Operations of a LangGraph store, checked: `batch` is given what the framework never looked at."""

from __future__ import annotations

from typing import Any

from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp

from ..doors.checked_arguments import checked_count, checked_items, checked_kind, checked_text
from ..errors import InvalidQuery, shown


def checked_operation(op: Any) -> Any:
    """Return an operation. Raise InvalidQuery for what is none, or has a field of another kind."""
    if isinstance(op, (GetOp, PutOp)):
        _check_labels("the namespace", op.namespace)
        checked_kind("the key", op.key, str)
    elif isinstance(op, SearchOp):
        _check_labels("the namespace prefix", op.namespace_prefix)
        checked_text("the query", op.query)
    elif isinstance(op, ListNamespacesOp):
        for condition in checked_items("the match conditions", op.match_conditions or (), "conditions"):
            _check_labels("the path", checked_kind("a match condition", condition, MatchCondition).path)
        if op.max_depth is not None:
            checked_count("max_depth", op.max_depth)
    else:
        raise InvalidQuery(f"{shown(op)} is no operation of a store; expected a get, search, put or list of namespaces")
    if isinstance(op, (SearchOp, ListNamespacesOp)):
        checked_count("the limit", op.limit)
        checked_count("the offset", op.offset)
    if isinstance(op, PutOp) and op.index is not None and op.index is not False:
        _check_labels("the index", op.index)
    return op


def _check_labels(name: str, labels: Any) -> None:
    """Raise InvalidQuery for what is no list or tuple of strings."""
    if not isinstance(labels, (list, tuple)) or not all(isinstance(label, str) for label in labels):
        raise InvalidQuery(f"{name} is {shown(labels)}; expected strings in a tuple or list")
