"""OpenTelemetry: lines as log records of OTLP. The only importer of `opentelemetry`, which is an
extra: import this module only where such a server is configured.
"""

import logging
import time
from collections.abc import Iterable

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import (
    LogRecord,
    ResourceLogs,
    ScopeLogs,
    SeverityNumber,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from slipring.logs.line import LogLine, LogSource

SEVERITIES: dict[int, SeverityNumber.ValueType] = {
    logging.DEBUG: SeverityNumber.SEVERITY_NUMBER_DEBUG,
    logging.INFO: SeverityNumber.SEVERITY_NUMBER_INFO,
    logging.WARNING: SeverityNumber.SEVERITY_NUMBER_WARN,
    logging.ERROR: SeverityNumber.SEVERITY_NUMBER_ERROR,
}
SCOPE = InstrumentationScope(name="slipring")


def otlp_request(lines: Iterable[LogLine], source: LogSource) -> bytes:
    """Lines as the body of one request."""
    resource = Resource(
        attributes=_attributes(
            {
                "service.name": "slipring",
                "service.instance.id": source.broker,
                "host.name": source.host,
            }
        )
    )
    scoped = ScopeLogs(scope=SCOPE, log_records=[_record(line) for line in lines])
    group = ResourceLogs(resource=resource, scope_logs=[scoped])
    return bytes(ExportLogsServiceRequest(resource_logs=[group]).SerializeToString())


def otlp_rejected(answer: bytes) -> int:
    """How many lines of a request the server refused, as its answer says."""
    told = ExportLogsServiceResponse.FromString(answer).partial_success
    return int(told.rejected_log_records)


def _record(line: LogLine) -> LogRecord:
    attributes = {f"slipring.{name}": value for name, value in line.fields}
    if line.exception:
        attributes["exception.stacktrace"] = line.exception
    return LogRecord(
        time_unix_nano=line.at_ns,
        observed_time_unix_nano=time.time_ns(),
        severity_number=_severity(line.level),
        severity_text=logging.getLevelName(line.level),
        body=AnyValue(string_value=_whole(line.text)),
        attributes=_attributes(attributes),
        event_name=f"slipring.{line.event}" if line.event else "",
    )


def _severity(level: int) -> SeverityNumber.ValueType:
    fatal = SeverityNumber.SEVERITY_NUMBER_FATAL
    return next((SEVERITIES[one] for one in sorted(SEVERITIES) if level <= one), fatal)


def _attributes(named: dict[str, str]) -> list[KeyValue]:
    return [
        KeyValue(key=name, value=AnyValue(string_value=_whole(value)))
        for name, value in named.items()
    ]


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot have."""
    return text.encode(errors="replace").decode()
