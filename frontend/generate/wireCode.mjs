// @ts-check
// The page's part of the wire protocol, generated from shared/schemas into frontend/src/wire/generated:
// types and validators of messages, the field catalogue, close codes, limits and columns of tables.
// Vite and Vitest generate before they start (the plugin `wireCode`); `node frontend/generate/wireCode.mjs`
// does it for tsc. A hash of the sources and of this file skips what is up to date.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(import.meta.url);
const ROOT = join(dirname(HERE), "..", "..");
const SCHEMAS = join(ROOT, "shared", "schemas");
const OUT = join(ROOT, "frontend", "src", "wire", "generated");
const STAMP = join(OUT, "sources.sha256");
const NOTE = "// Generated from shared/schemas by frontend/generate/wireCode.mjs.";

/** Messages and answers that the page checks as they come in. */
const READ = [
  ...["LiveMessage", "FrameHeader", "Problem"],
  ...["HealthResponse", "ProcessesResponse", "DemoResponse", "DoctorReport", "SizeAudit"],
  ...["SessionOpened", "SessionResponse", "SessionsResponse", "TicketResponse"],
  ...["Target", "PoliciesResponse", "SteeringOptions"],
  ...["PredictionService", "PredictionWeights"],
  ...["RunsResponse", "RunManifest", "RingResponse", "Comparison"],
];
/** Answers about experiments, whose pages are loaded when opened. */
const EXPERIMENTS_READ = ["Experiment", "ExperimentsResponse", "ExperimentChild"];
/** Answers that only Traces checks: that page is loaded when opened, and its validators with it. */
const TRACES_READ = [
  ...["TraceEndpoints", "TraceList", "TraceDetail", "TraceAnalysis", "TraceDifference"],
  ...["TraceHeat", "TraceOperations", "TraceValues", "TraceDays", "TracesImported"],
];
/** Answers about stacks, checked where flame graphs are drawn; `StackPlaces` is read elsewhere, too. */
const STACKS_READ = ["StackGraph", "StackDifference", "StackPlaces"];
/** Answers about many hosts, whose page is loaded when opened. */
const FLEET_READ = ["FleetHosts", "FleetAcross", "FleetComparison"];
/** Messages that the page sends and types that it names: they have types and no validators. */
const TYPES_ONLY = [
  ...["LiveCommand", "SessionRequest", "AttachRequest", "RateRequest", "DelayAccountingRequest"],
  ...[
    "SteerRequest",
    "RecordRequest",
    "StartExperimentRequest",
    "RunPatch",
    "RingCut",
    "TicketRequest",
    "StackRequest",
  ],
  ...["FieldCatalogue", "ProblemType", "AlignKind"],
];

/** @typedef {ReturnType<typeof JSON.parse>} Json a document that the schemas' own tests have checked */

/** @returns {string[]} names of the schema files and tables, sorted */
const sourceNames = () =>
  readdirSync(SCHEMAS)
    .filter((name) => name.endsWith(".json"))
    .sort();

/** @param {string} name @returns {Json} a file of shared/schemas */
const read = (name) => JSON.parse(readFileSync(join(SCHEMAS, name), "utf8"));

/** @returns {Map<string, Json>} definitions of all topics by name, which is also their title, sorted */
function readSchemas() {
  const topics = sourceNames().filter((name) => name.endsWith(".schema.json"));
  const all = Object.assign({}, ...topics.map((name) => read(name).$defs));
  const names = Object.keys(all).sort();
  return new Map(names.map((name) => [name, { title: name, ...all[name] }]));
}

/** @param {Json} reference @returns {string} name of the definition that a `$ref` points to */
const nameOf = (reference) => reference.slice(reference.lastIndexOf("/") + 1);

/** @param {unknown} node @returns {string[]} names of the definitions that a schema refers to */
function references(node) {
  if (typeof node !== "object" || node === null) return [];
  const found = Object.values(node).flatMap(references);
  return "$ref" in node ? [nameOf(node.$ref), ...found] : found;
}

/**
 * The schemas with these titles and all that they refer to, with references made local.
 *
 * @param {Map<string, Json>} schemas by title
 * @param {string[]} titles
 * @returns {Json} schemas by title, as for `$defs`
 */
function definitions(schemas, titles) {
  const found = new Set();
  const waiting = [...titles];
  for (let title = waiting.pop(); title !== undefined; title = waiting.pop()) {
    const schema = schemas.get(title);
    if (schema === undefined) throw new Error(`no schema has the title ${title}`);
    if (found.has(title)) continue;
    found.add(title);
    waiting.push(...references(schema));
  }
  /** @type {(node: Json) => Json} */
  const local = (node) => {
    if (Array.isArray(node)) return node.map(local);
    if (typeof node !== "object" || node === null) return node;
    if ("$ref" in node) return { ...node, $ref: `#/$defs/${nameOf(node.$ref)}` };
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, local(value)]));
  };
  const kept = [...schemas].filter(([title]) => found.has(title));
  return Object.fromEntries(kept.map(([title, schema]) => [title, local(schema)]));
}

/** @param {Json} $defs @returns {Promise<string>} TypeScript types of all definitions */
async function types($defs) {
  const { compile } = await import("json-schema-to-typescript");
  const root = "BundleRoot";
  const properties = Object.fromEntries(
    Object.keys($defs).map((title) => [title, { $ref: `#/$defs/${title}` }]),
  );
  const schema = { title: root, type: "object", properties, additionalProperties: false, $defs };
  const text = await compile(/** @type {Json} */ (schema), root, {
    bannerComment: NOTE,
    format: false,
    // A list of a fixed length would be a tuple, spelled out member by member.
    ignoreMinAndMaxItems: true,
  });
  const own = new RegExp(
    `(?:/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?export interface ${root} \\{\\n[^]*?^\\}\\n?`,
    "m",
  );
  if (!own.test(text)) throw new Error("the bundle's root has no type of its own to take out");
  return text.replace(own, "");
}

/**
 * Keywords left out of validators, to keep the page small: annotations, members that a newer backend
 * adds, and upper limits and spelling, which the backend has checked.
 */
const UNCHECKED = new Set([
  ...["title", "description", "deprecated", "examples", "default", "pattern", "format"],
  ...["minLength", "maxLength", "maximum", "exclusiveMinimum", "minItems", "maxItems"],
  "additionalProperties:false",
]);

/**
 * A schema without the unchecked keywords.
 *
 * @param {Json} node
 * @param {boolean} named true if the keys are names of members, not keywords
 * @returns {Json}
 */
function lean(node, named = false) {
  if (Array.isArray(node)) return node.map((item) => lean(item));
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key, value]) => named || !(UNCHECKED.has(key) || UNCHECKED.has(`${key}:${value}`)),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [key, lean(value, !named && key === "properties")]),
  );
}

/**
 * Ajv's error details beyond the place, the keyword and the name of a missing member, as patterns
 * and what replaces each.
 *
 * @type {[RegExp, string][]}
 */
const UNUSED = [
  [/,parentData(:\w+)?,parentDataProperty(:("[^"]*"|\w+))?,rootData/g, ""],
  [/instancePath="", parentData, parentDataProperty, rootData=data/g, 'instancePath=""'],
  [/schemaPath:"[^"]*",/g, ""],
  [/,params:\{(?!missingProperty)[^{}]*\}/g, ""],
  [/^const schema\d+ = .*\n/gm, ""],
  [/\n{2,}/g, "\n"],
];

/**
 * Validators as plain code: the page's content security policy forbids eval.
 *
 * @param {Json} $defs
 * @param {string[]} titles
 * @returns {Promise<string>} a module with `isTITLE` of each title
 */
async function validators($defs, titles) {
  const { Ajv } = await import("ajv/dist/ajv.js");
  // A CommonJS module, whose `default` tsc and Node understand differently.
  const standaloneCode = createRequire(HERE)("ajv/dist/standalone").default;
  const ajv = new Ajv({
    code: { source: true, esm: true, lines: true },
    discriminator: true,
    inlineRefs: false,
    messages: false,
    // JSON has no NaN.
    strictNumbers: false,
    strictTypes: false,
  });
  ajv.addSchema({ $id: "wire", $defs: lean($defs, true) });
  const names = titles.map((title) => [`is${title}`, `wire#/$defs/${title}`]);
  let code = standaloneCode(ajv, Object.fromEntries(names));
  for (const [found, put] of UNUSED) code = code.replace(found, put);
  for (const left of [/\brequire\(/, /\bschema\d+\b/, /\bparentData/, /\brootData/]) {
    if (left.test(code)) throw new Error(`${left} is left in the validators`);
  }
  return `${NOTE}\n${code}`;
}

const VALIDATOR = `
/** A check of a value against its schema; where it fails, \`errors\` says at which place. */
export interface Validator<T> {
  (value: unknown): value is T;
  errors?: readonly Misfit[] | null;
}

export interface Misfit {
  /** JSON pointer to the value that does not fit. */
  readonly instancePath: string;
  /** Keyword of the schema that the value violates. */
  readonly keyword: string;
  readonly params?: { readonly missingProperty?: string };
}
`;

/**
 * @param {string[]} titles
 * @param {string} kind declares or imports the type of a validator
 * @returns {string} types of the validators of these titles
 */
const validatorTypes = (titles, kind) =>
  [
    NOTE,
    `import type { ${[...titles].sort().join(", ")} } from "./models";`,
    kind,
    ...titles.map((title) => `export const is${title}: Validator<${title}>;`),
    "",
  ].join("\n");

/** @param {Json} schema of close codes @returns {string} */
function closeCodes(schema) {
  const rows = schema.oneOf.map(
    (/** @type {Json} */ code) => `  /** ${code.description} */\n  ${code.title}: ${code.const},`,
  );
  return [
    ...[NOTE, `/** ${schema.description} */`, "export const CloseCode = {"],
    ...[...rows, "} as const;", ""],
  ].join("\n");
}

/** @returns {string} constants that both sides agree on */
function limits() {
  const rows = read("limits.json").limits.map((/** @type {Json} */ row) => {
    const steps = (row.pointer ?? "").split("/").filter(Boolean);
    const value =
      row.value ??
      steps.reduce(
        (/** @type {Json} */ at, /** @type {string} */ step) => at[step],
        row.schema && read(row.schema),
      );
    return `/** ${row.description} */\nexport const ${row.name} = ${value};`;
  });
  return [NOTE, ...rows, ""].join("\n\n");
}

/** @returns {string} columns and keys of the tables in frames */
function frameTables() {
  const { tables } = read("frame_tables.json");
  const columns = tables.map((/** @type {Json} */ table) =>
    [
      ...[`  /** ${table.meaning} */`, `  ${table.name}: {`],
      ...table.columns.map(
        (/** @type {Json} */ one) => `    /** ${one.meaning} */\n    ${one.name}: "${one.type}",`,
      ),
      "  },",
    ].join("\n"),
  );
  const keys = tables.map((/** @type {Json} */ table) => {
    const names = table.columns.filter((/** @type {Json} */ one) => one.key);
    return `  ${table.name}: ${JSON.stringify(names.map((/** @type {Json} */ one) => one.name))},`;
  });
  return [
    ...[NOTE, "", "/** Columns of each table, in order, and their types. */"],
    ...["export const COLUMNS = {", ...columns, "} as const;", ""],
    ...["/** First columns of each table, which together identify a row. */"],
    ...["export const KEYS = {", ...keys, "} as const;", ""],
  ].join("\n");
}

/** @returns {Promise<Record<string, string>>} text of each generated file, by name */
async function generated() {
  const schemas = readSchemas();
  const $defs = definitions(schemas, [
    ...[...READ, ...EXPERIMENTS_READ, ...TRACES_READ, ...STACKS_READ, ...FLEET_READ],
    ...TYPES_ONLY,
  ]);
  const shared = 'import type { Validator } from "./validators";\n';
  return {
    "models.ts": await types($defs),
    "validators.js": await validators($defs, READ),
    "validators.d.ts": validatorTypes(READ, VALIDATOR),
    "experimentValidators.js": await validators($defs, EXPERIMENTS_READ),
    "experimentValidators.d.ts": validatorTypes(EXPERIMENTS_READ, shared),
    "traceValidators.js": await validators($defs, TRACES_READ),
    "traceValidators.d.ts": validatorTypes(TRACES_READ, shared),
    "stackValidators.js": await validators($defs, STACKS_READ),
    "stackValidators.d.ts": validatorTypes(STACKS_READ, shared),
    "fleetValidators.js": await validators($defs, FLEET_READ),
    "fleetValidators.d.ts": validatorTypes(FLEET_READ, shared),
    "closeCode.ts": closeCodes(schemas.get("CloseCode")),
    "catalogue.ts": [
      ...[NOTE, 'import type { FieldCatalogue } from "./models";', ""],
      `export const CATALOGUE: FieldCatalogue = ${JSON.stringify(read("fields.json"), null, 2)};\n`,
    ].join("\n"),
    "limits.ts": limits(),
    "frameTables.ts": frameTables(),
  };
}

/** @returns {string} hash of everything that the generated files depend on */
function sourcesHash() {
  const hash = createHash("sha256");
  const inputs = [
    HERE,
    join(ROOT, "package-lock.json"),
    ...sourceNames().map((name) => join(SCHEMAS, name)),
  ];
  for (const path of inputs) hash.update(path.slice(ROOT.length)).update(readFileSync(path));
  return hash.digest("hex");
}

/** @returns {string | undefined} hash of the sources that the present files were generated from */
function generatedHash() {
  try {
    return readFileSync(STAMP, "utf8");
  } catch {
    return undefined;
  }
}

/** Generate what is missing or stale. Each file is replaced whole, so that others may read meanwhile. */
export async function generateWireCode() {
  const wanted = sourcesHash();
  if (generatedHash() === wanted) return;
  mkdirSync(OUT, { recursive: true });
  const texts = { ...(await generated()), [STAMP.slice(OUT.length + 1)]: wanted };
  for (const [name, text] of Object.entries(texts)) {
    const whole = join(OUT, `${name}.${process.pid}`);
    writeFileSync(whole, text);
    renameSync(whole, join(OUT, name));
  }
}

/** Generate before Vite or Vitest resolves anything. */
export const wireCode = () => ({ name: "wire-code", config: generateWireCode });

if (process.argv[1] === HERE) await generateWireCode();
