// What a sample is, and how texts are written in the languages of samples. A mailbox may be named by a stranger, so nothing goes into
// a sample unquoted. Pure.

/** Where and to whom a sample sends. */
export interface Target {
  host: string
  port: number
  tls: 'none' | 'starttls' | 'implicit'
  /** With `any` one may sign in, which samples leave out. */
  auth: 'none' | 'any' | 'required'
  to: string
  from: string
}

export interface Block {
  /** The file that the text is, or belongs into; null for a command line. */
  file: string | null
  text: string
}

export interface Sample {
  label: string
  /** Commands or packages that must be there. */
  install: string | null
  blocks: Block[]
}

export const SUBJECT = 'Hello'
export const BODY = 'It works.'
/** Where signing in is required: whatever the server takes goes here. */
export const USER = 'user'
export const PASSWORD = 'password'

/** Nothing that ends a line or hides itself. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')

/** For POSIX shells. */
export const sh = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
/** In quotes as JavaScript, Python, Go, Rust, Java, C# and YAML read them. */
export const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`
export const ruby = (text: string): string => `"${text.replace(/[\\"#]/g, '\\$&')}"`
export const php = (text: string): string => `"${text.replace(/[\\"$]/g, '\\$&')}"`

/** Without lines that are not needed. */
export const lines = (...all: (string | false | null)[]): string => all.filter((line) => line !== false && line !== null).join('\n') + '\n'

/** As in a URL. */
export const authority = ({ host, port }: Target): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
