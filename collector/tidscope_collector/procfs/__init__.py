"""What /proc says: processes, who they are, and their threads when taskstats is not available."""
