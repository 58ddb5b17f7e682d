import { SmallMarker } from "../../chart/Marker";
import { type ChartTheme, colourStyle } from "../../chart/palette";

/** A thread, or what is none (`tid` null), such as an interrupt. */
export interface NamedThread {
  readonly tid: number | null;
  readonly name: string;
  readonly colour: number | null;
}

interface ThreadNameProps {
  readonly thread: NamedThread;
  readonly theme: ChartTheme;
  /** Without the id: there is no room for it. */
  readonly short?: boolean;
}

/** Name and id of a thread, or the name of what is none. */
export function ThreadName({ thread, theme, short = false }: ThreadNameProps) {
  const { tid, name, colour } = thread;
  return (
    <span title={tid === null ? name : `${name} (${tid})`}>
      {colour === null ? null : <SmallMarker style={colourStyle(colour, theme)} />}
      {tid === null ? <em>{name}</em> : short ? name : `${name} (${tid})`}
    </span>
  );
}
