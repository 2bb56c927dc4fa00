// Words of the list, the rail and the monitor.
import { counted, number } from '../format'

export const list = {
  'list.all': 'All mail',
  'list.noSubject': 'No subject',
  'list.spoken': (who: string, subject: string) => `New mail from ${who}: ${subject}`,
  'list.spokenMany': (count: number) => `${number(count)} new messages`,
  'monitor': 'Monitor',
  'pending.deleted': (count: number) => `${counted(count, 'message', 'messages')} deleted`,
  'pending.purged': (name: string) => `All mail of ${name} deleted`,
  'pending.purgedAll': 'All mail of all mailboxes deleted',
  'pending.failed': (why: string) => `Nothing was deleted: ${why}`,
}
