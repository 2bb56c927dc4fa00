// All samples, in the order in which they are offered.
import { compose } from './compose'
import { curl } from './curl'
import { django } from './django'
import { dotnet } from './dotnet'
import { go } from './go'
import { laravel } from './laravel'
import { nodemailer } from './nodemailer'
import { python } from './python'
import { rails } from './rails'
import { rust } from './rust'
import { plain, type Sample, type Target } from './sample'
import { spring } from './spring'
import { swaks } from './swaks'
import { symfony } from './symfony'

const ALL = { curl, node: nodemailer, python, laravel, rails, swaks, django, symfony, spring, dotnet, go, rust, compose }
export type SampleId = keyof typeof ALL
export const SAMPLES = Object.keys(ALL) as SampleId[]

export const isSample = (id: string): id is SampleId => Object.hasOwn(ALL, id)

export function sample(id: SampleId, target: Target): Sample {
  return ALL[id]({ ...target, host: plain(target.host), to: plain(target.to), from: plain(target.from) })
}
