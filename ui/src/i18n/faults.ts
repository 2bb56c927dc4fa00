// The words of faults on demand.
import { faults } from './en/faults'
import { list } from './en/list'
import { shell } from './en/shell'
import { translator } from './translate'

export const t = translator({ ...shell, ...list, ...faults })
