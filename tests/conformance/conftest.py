"""The table of recorded answers, printed at the end whichever process asked for them."""

from __future__ import annotations

from _pytest.terminal import TerminalReporter


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    tables = {
        text
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, text in getattr(report, "user_properties", ())
        if name == "recorded answers"
    }
    if tables:
        terminalreporter.section("recorded answers")
        terminalreporter.write_line("\n".join(sorted(tables)))
