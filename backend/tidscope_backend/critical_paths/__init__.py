"""Critical paths of files of traces, and the forms in which they are written."""
