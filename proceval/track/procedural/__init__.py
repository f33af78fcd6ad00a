"""Fresh review and repair cases from the mutants that an audit judged."""
