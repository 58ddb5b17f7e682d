/** Role of a thread: its name with each run of digits as one #, so worker-12 is a worker-#. The same rule: tidscope_wire/role.py. */
export function roleOf(name: string): string {
  return name.replace(/\d+/g, "#");
}
