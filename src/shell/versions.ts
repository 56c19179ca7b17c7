import type { TransitionBeforePreparationEvent } from 'astro:transitions/client'
import { ask } from './ask.ts'
import { isUploading, uploadsEnd } from './dock.ts'
import { buildOf, pageWords } from './page.ts'
import { toast } from './toasts.ts'

const everyMs = 3_600_000

/** Asks hourly whether a newer build is served, and says so; the person decides when to reload. */
export function watchForBuilds(): void {
  let isTold = false
  setInterval(async () => {
    if (isTold || !(await isOutdated())) return
    isTold = true
    const t = pageWords()
    toast(t('shell.version.ready'), { label: t('shell.version.reload'), run: reload })
  }, everyMs)
}

/**
 * A page of another build or with another theme must be loaded in full: the files of the open one may
 * be gone, and its policy does not know the other theme. While uploads run, the person is asked.
 */
export function guardAgainstOtherBuilds(): void {
  document.addEventListener('astro:before-preparation', event => {
    const { loader } = event
    event.loader = async () => {
      await loader()
      if (event.defaultPrevented || !isForeign(event)) return
      if (isUploading() && !(await mayLeave())) return new Promise(() => {}) // nothing happens
      event.preventDefault()
    }
  })
}

function isForeign(event: TransitionBeforePreparationEvent): boolean {
  const theirs = buildOf(event.newDocument)
  return theirs !== undefined && theirs !== buildOf(document)
}

async function isOutdated(): Promise<boolean> {
  try {
    const response = await fetch(`/builds/latest.json?${Date.now()}`)
    const { id } = (await response.json()) as { id?: unknown } // as: compared, not trusted
    return typeof id === 'string' && id !== buildOf(document)?.split(' ')[0]
  } catch {
    return false // offline: the next hour will tell
  }
}

async function reload(): Promise<void> {
  if (!isUploading() || (await mayLeave())) location.reload()
}

function mayLeave(): Promise<boolean> {
  const t = pageWords()
  return ask({
    text: t('shell.leave.newPage'),
    go: t('shell.leave.go'),
    stay: t('shell.leave.stay'),
    until: uploadsEnd()
  })
}
