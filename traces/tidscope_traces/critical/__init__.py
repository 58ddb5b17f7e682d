"""The critical path of one trace, and predictions for changes to the trace."""
