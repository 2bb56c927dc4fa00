// How mail gets here: the address of a mailbox, the door for it, and a name nobody can guess. Pure; the page's host is handed in.
import type { Server, SmtpDoor } from '../api/client'

/** The address to write to for a mailbox; where any domain will do it is one that belongs to nobody. */
export function addressOf(mailbox: string, server: Pick<Server, 'domain' | 'naming'> | null): string {
  if (server?.naming === 'domain') return mailbox.includes('@') ? mailbox : `me@${mailbox}`
  return mailbox.includes('@') ? mailbox : `${mailbox}@${server?.domain ?? 'example.com'}`
}

/** The mailbox that somebody means who types a name or a whole address of this server. */
export function nameOf(typed: string, server: Pick<Server, 'domain' | 'naming'> | null): string {
  const name = typed.trim()
  const own = `@${server?.domain ?? ''}`
  return server?.naming !== 'full' && own.length > 1 && name.toLowerCase().endsWith(own) ? name.slice(0, -own.length) : name
}

/** The door an application is shown: one without TLS from the first byte before one with; all addresses are the page's host. */
export function doorOf(doors: readonly SmtpDoor[] | undefined, pageHost: string): SmtpDoor | null {
  const door = doors?.find(({ tls }) => tls !== 'implicit') ?? doors?.[0]
  if (!door) return null
  return { ...door, host: door.host === '*' ? pageHost.replace(/^\[|\]$/g, '') : door.host }
}

/** `localhost:1025`, `[::1]:1025`. */
export const written = ({ host, port }: Pick<SmtpDoor, 'host' | 'port'>): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/** Letters and digits that nobody mixes up: 32 of them, 5 bits each. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

/** 13 letters, 65 bits; `random` fills with random bytes. */
export function unguessable(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string {
  const letters = [...random(new Uint8Array(13))].map((byte) => LETTERS[byte % 32])
  return [letters.slice(0, 4), letters.slice(4, 8), letters.slice(8)].map((group) => group.join('')).join('-')
}
