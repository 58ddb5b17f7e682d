"""The backend's TCP connections: who they come from, how many there may be, how long they wait."""
