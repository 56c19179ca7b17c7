import type { ReadableAtom } from 'nanostores'
import { formatPercent, roundTimeLeft } from '../../core/text/format.ts'
import { localizedPath } from '../../i18n/index.ts'
import { countUnfinished, type DepositQueueSummary } from '../../stores/deposits/deposit-states.ts'
import { createElement } from '../kit/elements.ts'
import { isOnPage, onEachPage, pageLocale, shellTranslator } from '../kit/page.ts'

/**
 * On every page except the deposit page, which has its own list. The close button calls `dismiss`.
 */
export function showUploadProgress(
  $summary: ReadableAtom<DepositQueueSummary>,
  dismiss: () => void
): void {
  const show = () => draw($summary.get(), dismiss)
  $summary.subscribe(show)
  onEachPage(show)
}

function draw(summary: DepositQueueSummary, dismiss: () => void): void {
  const box = document.getElementById('upload-progress')
  if (!box) return
  const isShown = summary.total > 0 && !isOnPage('deposit')
  box.hidden = !isShown
  if (!isShown) return
  const t = shellTranslator()
  box.setAttribute('aria-label', t('shell.uploadProgress.label'))
  const words = progressText(summary)
  const hasEnded = countUnfinished(summary) === 0
  if (!box.firstElementChild) box.append(...parts(dismiss))
  const [text, bar, link, close] = box.children
  if (text && text.textContent !== words) text.textContent = words
  if (bar instanceof HTMLProgressElement) {
    bar.value = summary.percent
    bar.hidden = hasEnded
    bar.setAttribute('aria-label', t('shell.uploadProgress.label'))
  }
  if (link instanceof HTMLAnchorElement) {
    link.href = localizedPath(pageLocale(), '/deposit')
    link.textContent = t('shell.uploadProgress.show')
  }
  if (close instanceof HTMLButtonElement) {
    close.hidden = !hasEnded
    close.textContent = t('shell.dismiss')
  }
}

function parts(dismiss: () => void): HTMLElement[] {
  const close = createElement('button', { type: 'button', class: 'upload-progress-close' })
  close.addEventListener('click', dismiss)
  return [
    createElement('p', {}),
    createElement('progress', { class: 'progress progress-secondary', max: '100' }),
    createElement('a', { class: 'link' }),
    close
  ]
}

function progressText(summary: DepositQueueSummary): string {
  const { batch, active, choosing, done, failed, percent, secondsLeft } = summary
  const t = shellTranslator()
  const share = formatPercent(percent / 100, pageLocale())
  const { total, ended } = batch
  if (countUnfinished(summary) === 0) {
    return failed > 0
      ? t('shell.uploadProgress.mixed', { done, failed })
      : t('shell.uploadProgress.finished', { count: done })
  }
  if (active === 0 && choosing > 0) return t('shell.uploadProgress.choosing', { count: choosing })
  if (active === 0) return t('shell.uploadProgress.paused', { done: ended, total, share })
  if (secondsLeft === undefined)
    return t('shell.uploadProgress.progress', { done: ended, total, share })
  const { unit, value } = roundTimeLeft(secondsLeft)
  const time = t(`shell.uploadProgress.${unit}`, { count: value })
  return t('shell.uploadProgress.left', { done: ended, total, share, time })
}
