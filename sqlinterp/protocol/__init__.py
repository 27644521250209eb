"""The kernel-query protocol: one JSON request, one JSON document, an exit code."""

from sqlinterp.protocol.answering import answer_bytes, answer_request
from sqlinterp.protocol.documents import problems, schemas, write_document

__all__ = ["answer_bytes", "answer_request", "problems", "schemas", "write_document"]
