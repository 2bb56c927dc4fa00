// How an application sends mail here, and the test mail that goes without one: through the same door as SMTP's.
import { answer, Problem, type Calls, type SmtpDoor } from '../api/client'
import type { Target } from '../samples/sample'
import type { ServerState } from './server.svelte'
import { addressOf, doorOf } from './way'

export class Sending {
  busy = $state(false)
  problem = $state.raw<Problem | null>(null)
  #calls: Calls
  #server: ServerState
  #root: URL

  constructor(calls: Calls, server: ServerState, root: URL) {
    this.#calls = calls
    this.#server = server
    this.#root = root
  }

  /** Null where the server tells of none. */
  get door(): SmtpDoor | null {
    return doorOf(this.#server.about?.smtp, this.#root.hostname)
  }

  address(mailbox: string): string {
    return addressOf(mailbox, this.#server.about)
  }

  target(mailbox: string): Target | null {
    return this.door && { ...this.door, to: this.address(mailbox), from: 'me@example.com' }
  }

  /** To whom the test mail went; null when it did not, and `problem` says why. */
  async test(mailbox: string): Promise<string | null> {
    const to = this.address(mailbox)
    this.busy = true
    this.problem = null
    try {
      const { testMail } = await import('./testmail')
      await answer(this.#calls.POST('/api/v2/messages', { body: testMail(to, code(), this.#root.host) }))
      return to
    } catch (fault) {
      this.problem = fault instanceof Problem ? fault : new Problem(0, { type: 'network' })
      return null
    } finally {
      this.busy = false
    }
  }
}

/** Six digits that do not begin with a nought. */
const code = (): string => String(100_000 + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 900_000))
