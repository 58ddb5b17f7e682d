/** The browser's WebSocket, adapted for `LiveSocket`. */

import type { SocketHandlers, SocketLike } from "./liveSocket";

export function connectWebSocket(
  url: string,
  protocols: readonly string[],
  handlers: SocketHandlers,
): SocketLike {
  const socket = new WebSocket(url, [...protocols]);
  const listening = new AbortController();
  const { signal } = listening;
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => handlers.onOpen(), { signal });
  socket.addEventListener(
    "message",
    ({ data }: MessageEvent<string | ArrayBuffer>) => handlers.onMessage(data),
    { signal },
  );
  socket.addEventListener("close", ({ code, reason }) => handlers.onClose(code, reason), {
    signal,
  });
  return {
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
    close: () => {
      listening.abort();
      socket.close(1000);
    },
  };
}
