// Code to be pasted: whatever a stranger wrote into a subject stays a string in every language. Where an interpreter is at hand
// it is asked; otherwise the quoting is looked at.
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { copyAs, likenessOf, SAMPLES, type Like } from './copyas'

const like = (subject: string, more: Partial<Like> = {}): Like => ({
  server: 'http://127.0.0.1:8025/', mailbox: 'ben', subject, from: 'a@x.test', hasCode: true, hasLink: true, ...more,
})
const HOSTILE = [
  `"; import os; os.system("touch owned") #`, `' + require('child_process') + '`, '$(touch owned) `touch owned` ${HOME}', `'; touch owned; '`, 'back\\slash \\" \\\' end\\',
  'two\nlines\r\n; touch owned', '\u001b[31mred\u0007 bell', '"""triple""" \'\'\'', '${`nested`} #{x} {{y}} %s {0}', '\u2028line\u2029 \u202eturned', '😀 emoji and ü', '-o owned', '&& touch owned & | ; < >', '!history !!',
]
const found = (command: string, ...words: string[]): boolean => {
  try {
    execFileSync(command, words, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

it('looks for what the next mail has in common with this one', () => {
  expect(likenessOf('Reset your password')).toBe('Reset your password')
  expect(likenessOf('Your order #20416 is on its way')).toBe('is on its way')
  expect(likenessOf('481920 is your code')).toBe('is your code')
  expect(likenessOf('20416')).toBe('20416')
  expect(likenessOf('two\nlines of it')).toBe('lines of it')
  expect(likenessOf('')).toBe('')
  expect([...likenessOf('ä'.repeat(500))].length).toBe(120)
  for (const subject of HOSTILE) expect(subject.includes(likenessOf(subject)), subject).toBe(true)
})

it('takes the sender when there is no subject', () => {
  for (const name of SAMPLES) expect(copyAs(name, like(''))).toContain('a@x.test')
})

it('carries no token and nothing unseen', () => {
  for (const subject of HOSTILE) {
    for (const name of SAMPLES) {
      const text = copyAs(name, like(subject, { mailbox: `o'brien/${subject}` }))
      expect(text).toContain('POSTKEEP_TOKEN')
      if (name !== 'rust') expect(text.replace(/\n/g, ''), text).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
    }
  }
})

it.runIf(found('sh', '-c', ':'))('stays a string in a shell', () => {
  for (const subject of HOSTILE) {
    const script = copyAs('curl', like(subject, { mailbox: "o'brien" }))
    const shown = execFileSync('sh', ['-c', `curl() { for word; do printf '%s\\n' "$word"; done; }; sed() { echo CURSOR; }\n${script}`], { encoding: 'utf8', env: { POSTKEEP_TOKEN: 'pkt_x y' } }).split('\n')
    expect(shown).toEqual(['-fsS', '-HAuthorization: Bearer pkt_x y', '--get', 'http://127.0.0.1:8025/api/v2/mailboxes/o%27brien/wait', '--data-urlencode', `subject=${likenessOf(subject)}`, '-d', 'since=CURSOR', '-d', 'timeout=20s', ''])
  }
})

it('stays a string in JavaScript', () => {
  for (const subject of HOSTILE) {
    const literal = /params: \{ subject: ('(?:[^'\\]|\\.)*'), since: cursor, timeout: '20s' \},$/m.exec(copyAs('playwright', like(subject)))?.[1]
    expect(literal && Function(`return ${literal}`)(), subject).toBe(likenessOf(subject))
  }
})

it.runIf(found('python3', '--version'))('stays a string in Python', () => {
  const runner = `import json, sys
for code in json.load(sys.stdin):
    seen = []
    def ask(path="", query=None):
        seen.append(query)
        return {"cursor": "C", "messages": [{"codes": [{"value": "1"}], "links": [{"href": "https://x", "action": True}]}]}
    space = {}
    exec(code, space)
    space["ask"] = ask
    next(value for name, value in space.items() if name.startswith("test_"))()
    print(json.dumps(seen))`
  const codes = HOSTILE.map((subject) => copyAs('pytest', like(subject)))
  const shown = execFileSync('python3', ['-c', runner], { encoding: 'utf8', input: JSON.stringify(codes), cwd: '/' }).trim().split('\n')
  expect(shown.map((line) => JSON.parse(line))).toEqual(HOSTILE.map((subject) => [null, { subject: likenessOf(subject), since: 'C', timeout: '20s' }]))
})

it('stays a string in Rust', () => {
  for (const subject of HOSTILE) {
    const literal = /\.subject\(("(?:[^"\\]|\\["\\]|\\u\{[0-9a-f]+\})*")\)\.timeout/.exec(copyAs('rust', like(subject)))?.[1]
    const read = literal?.slice(1, -1).replace(/\\u\{([0-9a-f]+)\}|\\(["\\])/g, (_, point: string, letter: string) => letter ?? String.fromCodePoint(parseInt(point, 16)))
    expect(read, subject).toBe(likenessOf(subject))
  }
  expect(copyAs('rust', like('x', { mailbox: 'a"\u202eb' }))).toContain('client.mailbox("a\\"\\u{202e}b")')
  expect(copyAs('rust', like('x', { server: 'https://mail.test/pk/' }))).toContain('feature "https"')
})
