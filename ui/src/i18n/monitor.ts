// The words of the monitor.
import { list } from './en/list'
import { monitor } from './en/monitor'
import { shell } from './en/shell'
import { translator } from './translate'

export const t = translator({ ...shell, ...list, ...monitor })
