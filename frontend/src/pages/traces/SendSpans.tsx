import { CommandLine } from "../../ui/CommandLine";

/** How a program sends its spans here. */
export function SendSpans() {
  return (
    <>
      <p>
        Start tidscope with <code>--otlp-receiver</code>, and any program with an OpenTelemetry SDK
        with these variables. The token is that of this page: <code>tidscope token</code> prints it.
      </p>
      <div>
        <CommandLine
          what="the address"
          command={`export OTEL_EXPORTER_OTLP_ENDPOINT=http://${window.location.hostname}:4318`}
        />
        <CommandLine
          what="the protocol"
          command="export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
        />
        <CommandLine
          what="the token"
          command={'export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$(tidscope token)"'}
        />
      </div>
      <p>
        Or import a file: traces that Jaeger exports as JSON, or OTLP in JSON. Drop it on this page.
      </p>
    </>
  );
}
