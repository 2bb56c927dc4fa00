// Words of the monitor.
import { number } from '../format'

export const monitor = {
  'monitor.lead': 'Mail as it arrives, and what was refused.',
  'monitor.arrivals': 'Mail as it arrives. Refusals are shown to those who may list all mailboxes.',
  'monitor.pause': 'Pause',
  'monitor.resume': 'Go on',
  'monitor.waiting': (count: number) => `${number(count)} waiting`,
  'monitor.hide': 'Hide older',
  'monitor.hidden': (count: number) => `${number(count)} hidden`,
  'monitor.show': 'Show',
  'monitor.empty': 'Nothing yet. Whatever is sent to this server appears here, also what it refuses.',
  'monitor.refused': 'Refused',
  'monitor.taken': (reply: string) => `Taken, ${reply}`,
  'monitor.bounce': '<>',
  'monitor.nobody': 'no recipient',
  'monitor.more': (count: number) => `and ${number(count)} more`,
  'monitor.at': (stage: string) => ` at ${stage}`,
  'monitor.peer': (peer: string) => ` from ${peer}`,
  'monitor.fault': 'Fault',
  'monitor.by': 'on demand: ',
  'monitor.plan': 'a fault plan',
  'monitor.address': 'the address asks for it',
}
