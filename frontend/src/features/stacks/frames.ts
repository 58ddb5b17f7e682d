/** Frames of stacks: their names, places in the source, and which belong to a runtime. Pure. */

import type { StackFrame } from "../../wire/generated/models";

/** Place in the code, shared by frames and places of locks. */
export interface CodePlace {
  readonly function: string;
  readonly file: string;
  readonly line: number;
}

/** Last part of a path: "src/bank.c" is "bank.c". */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** A place in the source: "bank.c:41"; "" if unknown. */
export function sourceText({ file, line }: Pick<CodePlace, "file" | "line">): string {
  const name = baseName(file);
  return name === "" || line === 0 ? name : `${name}:${line}`;
}

/** A function with its place: "update_account (bank.c:41)". */
export function codeText(place: CodePlace): string {
  const source = sourceText(place);
  return source === "" ? place.function : `${place.function} (${source})`;
}

/** Identity of a function: calls of several lines, and inlined ones, are the same function. */
export function functionKey({ kind, function: name, module, file }: StackFrame): string {
  return `${kind}\n${name}\n${module}\n${file}`;
}

/** Names of kinds, for legends and tooltips. */
const KINDS: Readonly<Record<string, string>> = {
  kernel: "kernel",
  native: "native",
  go: "Go",
  python: "Python",
  java: "Java",
  v8: "JavaScript",
  ruby: "Ruby",
  php: "PHP",
  perl: "Perl",
  dotnet: ".NET",
  beam: "Erlang",
  lua: "Lua",
  unknown: "unknown",
};

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

/**
 * Module of a frame, for collapsing: its library or executable, else its source file, else its
 * kind.
 */
export function moduleOf({ kind, module, file }: StackFrame): string {
  if (kind === "kernel") return "kernel";
  return module || baseName(file) || kindName(kind);
}

/** Libraries below every program: their functions say how it waits, not where. */
const SYSTEM_MODULES =
  /^(libc|libpthread|libm|librt|libdl|libstdc\+\+|libgcc_s|ld|ld-linux.*|ld-musl.*|libc\.musl.*)(-[\d.]+)?(\.so[.\d]*)?$/;

/** Whether a frame is the program's own code, as far as its module and kind say. */
export function isOwnCode(frame: StackFrame): boolean {
  return frame.kind !== "kernel" && !isRuntime(frame) && !SYSTEM_MODULES.test(frame.module);
}

/** Executables and libraries that interpret or manage programs. */
const RUNTIME_MODULES =
  /^(lib)?(python[23][.\d]*|jvm|ruby[-.\d]*|perl[.\d]*|php[\d]*|beam\.smp|coreclr|clrjit|mono[-.\w]*|node)(\.so[.\d]*)?$/;
/** Functions that begin a process or thread before the program's own first one. */
const STARTS =
  /^(_start|__libc_start_main\w*|__libc_start_call_main|start_thread|__?clone3?|clone3?|thread_start)(@.*)?$/;
const GO_RUNTIME = /^(runtime|internal\/runtime\/\w+|runtime\/internal\/\w+)\./;
const JAVA_STUBS = /^(call_stub|Interpreter|StubRoutines|vtable stub|I2C\/C2I adapters)/;
const V8_INTERNALS = /^(node:|internal\/)/;
const V8_FRAMES = /^(EntryFrame|ExitFrame|InternalFrame|ConstructEntryFrame|BuiltinFrame)/;
const PYTHON_STARTS =
  /^((Thread\.)?_bootstrap(_inner)?|Thread\.run|_run_module_as_main|_run_code)$/;

/** Whether a frame belongs to a language's runtime or to the start of a thread. */
export function isRuntime({ kind, function: name, module, file }: StackFrame): boolean {
  switch (kind) {
    case "native":
      return RUNTIME_MODULES.test(module) || module.startsWith("ld-linux") || STARTS.test(name);
    case "go":
      return GO_RUNTIME.test(name);
    case "java":
      return JAVA_STUBS.test(name);
    case "v8":
      return V8_INTERNALS.test(file) || V8_FRAMES.test(name);
    case "python":
      return file.startsWith("<frozen ") || PYTHON_STARTS.test(name);
    default:
      return false;
  }
}
