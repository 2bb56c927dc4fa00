// Files that are what they say, and files that are not.
import { expect, it } from 'vitest'
import { disagreement, preview } from './realtype'

it('trusts what agrees', () => {
  const fine = [
    { name: 'a.png', type: 'image/png', realType: 'image/png' }, { name: 'a.jpg', type: 'image/jpg', realType: 'image/jpeg' }, { name: 'a.pdf', type: 'application/octet-stream', realType: 'application/pdf' },
    { name: 'a.csv', type: 'text/csv', realType: 'text/plain' }, { name: 'a.docx', type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', realType: 'application/zip' },
    { name: 'unknown.bin', type: 'application/octet-stream', realType: null }, { name: null, type: 'text/html', realType: null }, { name: 'a.xml', type: 'application/xml', realType: 'text/xml' },
  ]
  for (const file of fine) expect(disagreement(file), file.name ?? '').toBeNull()
})

it('warns when the content is another than declared', () => {
  expect(disagreement({ name: 'photo.png', type: 'image/png', realType: 'application/vnd.microsoft.portable-executable' })).toEqual({ kind: 'declared', declared: 'image/png', real: 'application/vnd.microsoft.portable-executable' })
  expect(disagreement({ name: 'a.txt', type: 'text/plain', realType: 'text/html' })).toMatchObject({ kind: 'declared' })
})

it('warns when the name promises another type', () => {
  expect(disagreement({ name: 'invoice.PDF', type: 'application/octet-stream', realType: 'application/zip' })).toEqual({ kind: 'named', extension: 'pdf', real: 'application/zip' })
  expect(disagreement({ name: 'invoice.pdf', type: 'text/html', realType: null })).toEqual({ kind: 'named', extension: 'pdf', real: 'text/html' })
})

it('shows pictures and plain text by itself, and nothing else', () => {
  expect(preview({ type: 'image/png', realType: 'image/jpeg' })).toBe('image')
  expect(preview({ type: 'image/png', realType: 'application/zip' })).toBeNull()
  expect(preview({ type: 'text/plain', realType: null })).toBe('text')
  expect(preview({ type: 'text/plain', realType: 'text/html' })).toBeNull()
  for (const type of ['image/svg+xml', 'text/html', 'application/pdf']) expect(preview({ type, realType: type })).toBeNull()
})
