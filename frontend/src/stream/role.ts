/** The role of a thread: the same rule as tidscope_wire/role.py, which documents it. */

import type { RoleRule } from "../wire/generated/models";

/** Lower-case words whose digits are not a number. */
const WORDS: ReadonlySet<string> = new Set(
  `v4 v6 ip4 ip6 ipv4 ipv6 tcp4 tcp6 udp4 udp6 icmp6 nfs4 nfsd4 nfsv3 nfsv4 l2cap p2p
  x86 x64 i386 i686 i915 amd64 arm64 riscv64 win32 ext2 ext3 ext4 jbd2 f2fs raid0 raid1 raid5
  raid6 raid10 utf8 utf16 base64 md5 sha1 sha256 sha512 crc32 crc32c lz4 bz2 h2 h264 h265 http1
  http2 http3 html5 mp3 mp4 oauth2 s3 k8s log4j log4j2 slf4j nio2 sqlite3 v8 v8worker db2 neo4j
  x264 x265 cc1 python2 python3 php7 php8 lua5 perl5 qt5 qt6 gtk3 gtk4 wine64 k3s`.split(/\s+/),
);

/** Go runtime threads, one each in any Go program, which do not count as a second role. */
const RUNTIME_ROLES: ReadonlySet<string> = new Set(["sysmon", "template thread"]);

/** Whether a role belongs to a runtime, not to the program. */
export function isRuntimeRole(role: string): boolean {
  return RUNTIME_ROLES.has(role);
}

/** Role name in a rule that makes each thread name a role. */
export const KEEP = "*";

/**
 * Role of a thread by its name.
 * @param rules The user's rules; the first match takes precedence over the general rule.
 */
export function roleOf(name: string, rules: readonly RoleRule[] = []): string {
  for (const rule of rules) {
    if (fits(rule.pattern, name)) return rule.role === KEEP ? name : rule.role;
  }
  const begin = /^[A-Z][0-9] [A-Za-z]/.test(name) ? 2 : 0;
  const rest = name.slice(begin).replace(/#[0-9]+|[0-9A-Za-z]+/g, withoutNumber);
  return name.slice(0, begin) + rest;
}

/** Whether a name matches the pattern of a rule. */
export function fits(pattern: string, name: string): boolean {
  return compiled(pattern).test(name);
}

/** Whether two lists of rules are equal. */
export function sameRules(a: readonly RoleRule[], b: readonly RoleRule[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ pattern, role }, i) => pattern === b[i]?.pattern && role === b[i]?.role)
  );
}

function withoutNumber(part: string): string {
  if (part.startsWith("#")) return "#";
  return WORDS.has(part.toLowerCase()) ? part : part.replace(/[0-9]+/g, "#");
}

const known = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  let found = known.get(pattern);
  if (!found) {
    const text = pattern.replace(/[.*+?^${}()|[\]\\]/gu, (sign) =>
      sign === "*" ? "[^]*" : sign === "?" ? "[^]" : `\\${sign}`,
    );
    found = new RegExp(`^${text}$`, "u");
    known.set(pattern, found);
  }
  return found;
}
