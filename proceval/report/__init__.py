"""What a run folder says, told to people and machines: summary.json, tables, report.md, Parquet and figures."""
