// What of the frame is open just now. Not in the URL, since nobody wants it back.
import type { Message } from '../api/client'

export class Shell {
  /** The rail, where it is a drawer. */
  drawer = $state(false)
  /** The field, where it hides behind a button. */
  searching = $state(false)
  palette = $state(false)
  /** The message of which is being asked to whom it shall go. */
  releasing = $state.raw<Message | null>(null)
  /** The message alone, without list and rail (`f`). */
  alone = $state(false)
}
