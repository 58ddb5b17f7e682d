// Validators of what the page reads, as plain code: the page's content security policy forbids eval.
// `node tools/generateValidators.mjs FILE` prints the module; FILE holds {"$defs": {TITLE: schema},
// "titles": [TITLE to check, ...]}, and references in it are #/$defs/TITLE.
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/ajv.js";
import standaloneCode from "ajv/dist/standalone/index.js";

// Left out, to keep the page small: what says nothing of a value, members that a newer backend adds,
// and upper limits and spelling, which the backend has checked. Types, members, choices and lower limits
// remain.
const UNCHECKED = new Set([
  ...["title", "description", "deprecated", "examples", "default", "pattern", "format"],
  ...["minLength", "maxLength", "maximum", "exclusiveMinimum", "minItems", "maxItems"],
  "additionalProperties:false",
]);

/** The schema without them; `named` is true where keys are names of members and not keywords. */
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

/** What Ajv passes on and keeps for errors beyond the place, the keyword and a missing member's name. */
const UNUSED = [
  [/,parentData(:\w+)?,parentDataProperty(:("[^"]*"|\w+))?,rootData/g, ""],
  [/instancePath="", parentData, parentDataProperty, rootData=data/g, 'instancePath=""'],
  [/schemaPath:"[^"]*",/g, ""],
  [/,params:\{(?!missingProperty)[^{}]*\}/g, ""],
  [/^const schema\d+ = .*\n/gm, ""],
  [/\n{2,}/g, "\n"],
];

const { $defs, titles } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const ajv = new Ajv.default({
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
let code = standaloneCode.default(ajv, Object.fromEntries(names));
for (const [found, put] of UNUSED) code = code.replace(found, put);
for (const left of [/\brequire\(/, /\bschema\d+\b/, /\bparentData/, /\brootData/]) {
  if (left.test(code)) throw new Error(`${left} is left in the validators`);
}
process.stdout.write(code);
