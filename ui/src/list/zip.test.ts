// The archive is one that other programs open.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crc32, zip } from './zip'

it('sums as everybody does', () => {
  expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926)
})

it('is read by Python', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'postkeep-zip-')), 'a.zip')
  const bytes = (text: string) => new TextEncoder().encode(text)
  writeFileSync(file, Buffer.from(await zip([{ name: 'ben-1.eml', bytes: bytes('Subject: a\r\n') }, { name: 'übel.eml', bytes: bytes('') }]).arrayBuffer()))
  const script = 'import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nprint([(i.filename, z.read(i).decode()) for i in z.infolist()])'
  expect(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }).trim()).toBe("[('ben-1.eml', 'Subject: a\\r\\n'), ('übel.eml', '')]")
})
