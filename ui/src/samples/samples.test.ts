// Every sample says where, to whom and how; strangers' names stay names. That they run is shown by tests/samples.spec.ts.
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { SAMPLES, sample } from './index'
import { php, quoted, ruby, sh, type Target } from './sample'

const target: Target = { host: 'mail.test', port: 2525, tls: 'none', auth: 'any', to: 'ben@example.com', from: 'me@example.com' }
const text = (id: (typeof SAMPLES)[number], more: Partial<Target> = {}) => sample(id, { ...target, ...more }).blocks.map((block) => block.text).join('\n')

describe.each(SAMPLES)('%s', (id) => {
  it('has host, port, sender and recipient', () => {
    for (const word of ['mail.test', '2525', 'ben@example.com', 'me@example.com']) expect(text(id)).toContain(word)
  })
  it('signs in only where that is required', () => {
    expect(text(id)).not.toContain('password')
    expect(text(id, { auth: 'required' })).toContain('password')
  })
  it('turns to TLS where the server does', () => {
    for (const tls of ['starttls', 'implicit'] as const) {
      // swaks never checks a certificate; a DSN and Laravel turn to STARTTLS by themselves.
      if (!(id === 'laravel' && tls === 'starttls')) expect(text(id, { tls })).not.toBe(text(id))
    }
  })
  it('ends in a line, and has no line of nothing but blanks', () => {
    for (const auth of ['any', 'required'] as const)
      for (const tls of ['none', 'starttls', 'implicit'] as const) for (const { text } of sample(id, { ...target, auth, tls }).blocks) expect(text).toMatch(/^(?!\n)(?:(?![ \t]+\n)[^\n]*\n)+$/)
  })
})

it('a name of a stranger stays a name', () => {
  const to = `a"'$(touch x)\`#{1}\\\n\u202e@x.test`
  for (const id of SAMPLES) for (const line of text(id, { to }).split('\n')) expect(line).not.toMatch(/^@x\.test|\u202e/)
  const bare = `a"'$(echo x)\`echo y\`#{1}\\ b`
  expect(execFileSync('sh', ['-c', `printf %s ${sh(bare)}`]).toString()).toBe(bare)
  expect(JSON.parse(quoted(bare))).toBe(bare)
  expect(ruby(bare)).toBe(`"a\\"'$(echo x)\`echo y\`\\#{1}\\\\ b"`)
  expect(php(bare)).toBe(`"a\\"'\\$(echo x)\`echo y\`#{1}\\\\ b"`)
})
