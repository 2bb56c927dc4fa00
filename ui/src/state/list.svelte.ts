// The rows on the screen: what was listed, what has come since, what is selected. (The list helper owns this file.)
import type { Summary } from '../api/client'

/** A summary, and what is read of the message once its row is seen. */
export interface Row extends Summary {
  preview?: string
}
