import { pageVersion, shellTranslator } from '../kit/page.ts'
import { showToast } from '../kit/toasts.ts'
import { confirmPageUnload } from './build-guard.ts'

const everyMs = 3_600_000

/**
 * Checks hourly whether the server has a newer build. If so, shows a message with a button that
 * reloads the page.
 */
export function watchForNewBuild(): void {
  let isTold = false
  setInterval(async () => {
    if (isTold || !(await isOutdated())) return
    isTold = true
    const t = shellTranslator()
    showToast(t('shell.version.ready'), { label: t('shell.version.reload'), run: reload })
  }, everyMs)
}

async function isOutdated(): Promise<boolean> {
  try {
    const response = await fetch(`/builds/latest.json?${Date.now()}`)
    const { id } = (await response.json()) as { id?: unknown } // as: compared, not trusted
    return typeof id === 'string' && id !== pageVersion(document)?.split(' ')[0]
  } catch {
    return false // offline: checks again in an hour
  }
}

async function reload(): Promise<void> {
  if (await confirmPageUnload()) location.reload()
}
