// What the server is and what this visitor may do there: read at first, after signing in or out, and now and then.
import { answer, Problem, type Calls, type Server } from '../api/client'

export type Verb = 'list' | 'read' | 'wait' | 'watch' | 'delete' | 'purge' | 'deliver' | 'release' | 'fault' | 'admin'

export class ServerState {
  about = $state.raw<Server | null>(null)
  problem = $state.raw<Problem | null>(null)
  #calls: Calls

  constructor(calls: Calls) {
    this.#calls = calls
  }

  async read(): Promise<void> {
    try {
      const about = (await answer(this.#calls.GET('/api/v2'))) as Server
      // The same again wakes nobody.
      if (JSON.stringify(about) !== JSON.stringify(this.about)) this.about = about
      this.problem = null
    } catch (fault) {
      if (fault instanceof Problem) this.problem = fault
    }
  }

  may(verb: Verb): boolean {
    return this.about?.verbs?.includes(verb) ?? true
  }

  /** Messages may be sent on from here to real people. */
  get releases(): boolean {
    return this.about?.release?.enabled === true && this.about.verbs.includes('release')
  }

  get isPublic(): boolean {
    return this.about?.mode === 'public'
  }

  /** Mail of all mailboxes can be listed and followed. */
  get seesAll(): boolean {
    return !this.isPublic && this.may('list')
  }

  async login(token: string): Promise<void> {
    await answer(this.#calls.POST('/api/v2/login', { body: { token } }))
    await this.read()
  }

  async logout(): Promise<void> {
    await answer(this.#calls.DELETE('/api/v2/login'))
    await this.read()
  }
}
