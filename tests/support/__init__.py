"""What several test files share: builders of logs, tables of cases, oracles' companions."""
