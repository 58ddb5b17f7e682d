import { CommandLine } from "../../ui/CommandLine";

/** How a program sends its spans here; the port that receives them, null: none does yet. */
export function SendSpans({ port }: { readonly port: number | null }) {
  return (
    <>
      <p data-receiver={port === null ? "off" : "on"}>
        {port === null ? (
          <>
            <strong>The receiver is off.</strong> Start tidscope with <code>--otlp-receiver</code>,
            and programs that have an OpenTelemetry SDK with these variables.
          </>
        ) : (
          <>
            Spans are received at port {port} of this machine. Start programs that have an
            OpenTelemetry SDK with these variables.
          </>
        )}{" "}
        <code>tidscope up</code> prints them with the token, which only sends spans.
      </p>
      <div>
        <CommandLine
          what="the address"
          command={`export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:${port ?? 4318}/v1/traces`}
        />
        <CommandLine
          what="the protocol"
          command="export OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"
        />
        <CommandLine
          what="the token"
          command="export OTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=Bearer%20TOKEN"
        />
      </div>
      <p>
        Or import a file: traces that Jaeger exports as JSON, or OTLP in JSON. Drop it on this page.
      </p>
    </>
  );
}
