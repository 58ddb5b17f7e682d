"""The collectors' end of the WebSocket: frames in, commands out."""
