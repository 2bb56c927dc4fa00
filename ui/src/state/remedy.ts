// What a refusal means to a person and what can be done next. Pure; the words are the page's, the cases are the server's.
import type { Problem } from '../api/client'

export type Remedy =
  | { kind: 'network' }
  | { kind: 'gone' }
  | { kind: 'signIn' }
  | { kind: 'secret' }
  | { kind: 'expired' }
  | { kind: 'full' }
  /** Worth asking again after so many seconds. */
  | { kind: 'wait'; seconds: number }
  /** What the server says is all there is to say; with what it takes for meant. */
  | { kind: 'told'; nearest: string[] }

/** When the server names no time. */
const PATIENCE = 5

export function remedy(problem: Problem): Remedy {
  switch (problem.status) {
    case 0:
      return { kind: 'network' }
    case 401:
      return { kind: 'signIn' }
    case 403:
      return problem.slug === 'inbox-secret-required' ? { kind: 'secret' } : { kind: 'told', nearest: [] }
    case 404:
      return problem.slug === 'message-unknown' ? { kind: 'gone' } : { kind: 'told', nearest: [] }
    case 410:
      return { kind: 'expired' }
    case 429:
    case 503:
      return { kind: 'wait', seconds: Math.max(1, Math.ceil(problem.retryAfter ?? PATIENCE)) }
    case 507:
      return { kind: 'full' }
    default:
      return { kind: 'told', nearest: nearest(problem) }
  }
}

function nearest(problem: Problem): string[] {
  const errors = Array.isArray(problem.members.errors) ? (problem.members.errors as { nearest?: unknown }[]) : []
  return errors.map((error) => error.nearest).filter((word): word is string => typeof word === 'string' && word !== '')
}
