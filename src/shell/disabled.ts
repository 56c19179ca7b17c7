import { type DisabledState, parseDisabledParameter } from '../contract/kit/disabled.ts'
import { formatDateTime } from '../core/text/format.ts'
import { localizedPath, type Messages, translator } from '../i18n/index.ts'
import { navigate } from '../stores/navigation.ts'
import { $disabledState, $user, refreshUser } from '../stores/signed-in-user.ts'
import { isSignedIn, onClick, onThisAndLaterPages, pageLocale } from './kit/page.ts'

/**
 * First shows the reason from the page's address, which anybody can forge, and replaces it with the
 * API's answer.
 */
export function startAccountDisabledPage(): void {
  onThisAndLaterPages(() => {
    draw(parseDisabledParameter(new URLSearchParams(location.search).get('disabled')))
    drawAnswer()
  })
  $disabledState.listen(drawAnswer)
  $user.listen(drawAnswer)
  onClick('[data-act=check-disabled]', () => void checkAgain())
}

function drawAnswer(): void {
  const blocked = $disabledState.get()
  const box = sheet()
  if (blocked && box) {
    // for a reason that this page does not know, because the API is a release newer
    write(box, 'what', words()('disabled.unknown', { company: box.dataset['company'] ?? '' }))
    show(box, 'next')
    draw(parseDisabledParameter(JSON.stringify(blocked)))
  } else if (box && $user.get()) {
    write(box, 'what', words()('disabled.active'))
    for (const part of ['reason', 'next']) show(box, part, false)
  }
}

async function checkAgain(): Promise<void> {
  const outcome = sheet()?.querySelector('[data-disabled-outcome]')
  const t = words()
  if (outcome) outcome.textContent = t('disabled.checking')
  await refreshUser()
  if ($user.get() && !$disabledState.get()) {
    await navigate(localizedPath(pageLocale(), '/'), { replace: true })
  } else if (outcome && !isSignedIn()) {
    // disabling has ended the session, and an enabled person must sign in again
    outcome.textContent = t('disabled.ended')
  } else if (outcome) {
    outcome.textContent = t($disabledState.get() ? 'disabled.still' : 'disabled.unreachable')
  }
}

function draw(details: DisabledState | undefined): void {
  const box = sheet()
  if (!box || !details) return
  const t = words()
  const company = box.dataset['company'] ?? ''
  const date = formatDateTime(new Date(details.since), pageLocale())
  write(box, 'what', t(`disabled.what.${details.scope}`, { company, date }))
  const { reason } = details
  const isCompany = details.scope === 'company'
  // only administrators of a suspended company are told the reason
  const isMember = isCompany && reason === 'other'
  if (!isCompany) write(box, 'reason', t(`disabled.reason.${reason}`))
  else if (reason === 'other') show(box, 'reason', false)
  else write(box, 'reason', t(`disabled.companyReason.${reason}`, { company }))
  // the contact is the company's own, which cannot help its administrators
  const asksOperator = isCompany && !isMember
  write(box, 'ask', t(asksOperator ? 'disabled.askOperator' : 'disabled.noContact', { company }))
  show(box, 'contact', !asksOperator)
  show(box, 'ask', asksOperator || !partOf(box, 'contact'))
  write(box, 'only', t(isCompany ? 'disabled.onlyOperator' : 'disabled.only', { company }))
  show(box, 'next')
  // a disabled person may still verify documents; a suspended company may have no service at all
  show(box, 'kept', details.scope === 'user')
}

function write(box: HTMLElement, name: string, text: string): void {
  const element = partOf(box, name)
  if (element) element.textContent = text
  show(box, name)
}

function show(box: HTMLElement, name: string, isShown = true): void {
  partOf(box, name)?.toggleAttribute('hidden', !isShown)
}

function partOf(box: HTMLElement, name: string): HTMLElement | null {
  return box.querySelector<HTMLElement>(`[data-disabled-${name}]`)
}

function words() {
  const json = sheet()?.dataset['words'] ?? '{}'
  return translator(pageLocale(), JSON.parse(json) as Messages) // as: written by the page
}

function sheet(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[data-disabled]')
}
