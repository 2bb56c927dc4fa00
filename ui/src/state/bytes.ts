// A message as it was received, whole. For downloads of chosen messages; what is shown of a source is read in pieces elsewhere.
import { answer, type Calls } from '../api/client'
import type { Copy } from './row'

export async function bytesOf(calls: Calls, { mailbox: name, id }: Copy): Promise<Uint8Array> {
  const call = calls.GET('/api/v2/mailboxes/{name}/messages/{id}/source', { params: { path: { name, id } }, parseAs: 'arrayBuffer' })
  return new Uint8Array((await answer(call)) as unknown as ArrayBuffer)
}
