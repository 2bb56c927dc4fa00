// A fault plan in words: what it does, to which mail, how often; and how it is removed. Strangers' letters are made visible here.
import type { Plan } from '../api/client'
import { t } from '../i18n/faults'
import type { AppState } from '../state/app.svelte'
import { Faults } from '../state/faults.svelte'
import { visible } from './visible'

/** Made when they are first looked at. */
export const faultsOf = (app: AppState): Faults => (app.faults ??= new Faults(app.calls, app.clock, () => void app.server.read()))

export async function removePlan(app: AppState, plan: Plan): Promise<void> {
  const problem = await faultsOf(app).remove(plan.id)
  if (problem) app.notices.say(t('faults.notRemoved', problem.status ? problem.message : t('error.network')), { tone: 'fault' })
  else app.notices.say(t('faults.removed'))
}

/** `451 4.3.0 Try later, answered after 2s`. */
export function deedOf({ reply, delay, drop, slow }: Plan): string {
  const said = reply && [reply.code, reply.enhanced, reply.text].filter(Boolean).join(' ')
  return [said && visible(said), delay && t('plan.delay', delay), drop && t('plan.drop'), slow && t('plan.slow', slow)].filter(Boolean).join(', ')
}

export function aboutOf({ mailbox, sender }: Plan): string {
  return mailbox ? t('plan.mailbox', visible(mailbox)) : sender ? t('plan.sender', visible(sender)) : t('plan.everything')
}

export function oftenOf({ first, nth, percent, seed }: Plan): string {
  if (first) return t('plan.first', first)
  if (nth) return t('plan.nth', nth)
  return percent ? t('plan.percent', percent, seed ?? null) : t('plan.always')
}
