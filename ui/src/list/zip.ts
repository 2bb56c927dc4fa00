// A ZIP archive of a few small files, stored as they are. Written for messages that were chosen; a whole mailbox is the server's.

export interface File {
  name: string
  bytes: Uint8Array
}

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  return sum >>> 0
})

export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8)
  return (sum ^ 0xffffffff) >>> 0
}

export function zip(files: readonly File[]): Blob {
  const pieces: Uint8Array[] = []
  const central: Uint8Array[] = []
  let at = 0
  for (const { name, bytes } of files) {
    const title = new TextEncoder().encode(name)
    // Version 2.0, names in UTF-8, stored, 1 January 1980, sum and sizes.
    const facts = [20, 0x0800, 0, 0, 0x21]
    const sums = [crc32(bytes), bytes.length, bytes.length]
    pieces.push(record([0x04034b50], facts, sums, [title.length, 0]), title, bytes)
    central.push(record([0x02014b50], [20, ...facts], sums, [title.length, 0, 0, 0, 0], [0, at]), title)
    at += 30 + title.length + bytes.length
  }
  const length = central.reduce((sum, piece) => sum + piece.length, 0)
  const end = record([0x06054b50], [0, 0, files.length, files.length], [length, at], [0])
  return new Blob([...pieces, ...central, end] as BlobPart[], { type: 'application/zip' })
}

/** Numbers of four and of two bytes by turns, least byte first. */
function record(...groups: number[][]): Uint8Array {
  const bytes: number[] = []
  groups.forEach((group, index) => {
    for (const number of group) for (let byte = 0; byte < (index % 2 ? 2 : 4); byte += 1) bytes.push((number >>> (8 * byte)) & 0xff)
  })
  return Uint8Array.from(bytes)
}
