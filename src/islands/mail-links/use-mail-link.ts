import { useEffect, useState } from 'react'
import type { LinkPurpose } from '../../contract/accounts.ts'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import {
  type MailLinkFragment,
  parseMailLinkFragment
} from '../../stores/accounts/mail-link-fragment.ts'
import { keepUnsavedInput, takeUnsavedInput } from '../forms/page-drafts.ts'
import { loadCode } from '../kit/load-code.ts'

export interface CheckedMailLink extends MailLinkFragment {
  /**
   * `open` if the link works, `used` if it was used before, `over` if it has expired or is invalid.
   */
  state: 'open' | 'used' | 'over'
  /** Username of the invited person, for an invitation link. */
  username?: string | undefined
}

/**
 * Returns the e-mail link with which the person has opened the page. Returns `'none'` if the page
 * was opened without such a link, and `'loading'` until the API has checked the link. Removes the
 * link from the address immediately, because people copy addresses and browsers store them in their
 * history.
 */
export function useMailLink(purpose: LinkPurpose): CheckedMailLink | 'none' | 'loading' {
  const [link, setLink] = useState<CheckedMailLink | 'none' | 'loading'>('loading')
  useEffect(() => {
    const kept = takeUnsavedInput('link') as MailLinkFragment | undefined // as: kept below
    const found = parseMailLinkFragment(location.hash) ?? kept
    if (found) void check(found, purpose).then(setLink)
    else setLink('none')
    const stopKeeping = keepUnsavedInput('link', () => found)
    // typing a link into the address bar has removed the state that the router needs
    const state = history.state ?? { index: 0, scrollX: 0, scrollY: 0 }
    history.replaceState(state, '', location.pathname + location.search)
    // makes links that copy the fragment read it again
    dispatchEvent(new HashChangeEvent('hashchange'))
    // A link that is typed into the address bar of the open page does not load the page, and
    // removes the state that the router needs.
    const start = () => {
      if (location.hash !== '') location.reload()
    }
    addEventListener('hashchange', start)
    return () => {
      stopKeeping()
      removeEventListener('hashchange', start)
    }
  }, [purpose])
  return link
}

/**
 * Returns the state of a link that the API has refused: `used`, or `over` for an expired or invalid
 * link. Returns undefined for an error that has another cause than the link.
 */
function linkStateFromError(error: AppError): 'used' | 'over' | undefined {
  if (error.code === 'mail_token_used') return 'used'
  return error.code === 'mail_token_invalid' ? 'over' : undefined
}

function closedLinkState(link: CheckedMailLink | 'none' | 'loading'): 'used' | 'over' | undefined {
  return typeof link === 'string' || link.state === 'open' ? undefined : link.state
}

/**
 * Returns the reason why a link from an e-mail does not work (`closed`): `used`, or `over` if the
 * link has expired or is invalid. `closed` is undefined while the link works. Also returns
 * `handleFailure()`, which updates `closed` with the error of an API call and returns whether the
 * call failed because of the link.
 */
export function useLinkFailure(link: CheckedMailLink | 'none' | 'loading') {
  const [refused, setRefused] = useState<'used' | 'over'>()
  const handleFailure = (error: AppError) => {
    setRefused(linkStateFromError(error))
    return linkStateFromError(error) !== undefined
  }
  return { closed: refused ?? closedLinkState(link), handleFailure }
}

/**
 * Checks a link with the API. If the check itself fails, for example without a network, returns the
 * link as `open`; the person sees the error when the link is used.
 */
async function check(link: MailLinkFragment, purpose: LinkPurpose): Promise<CheckedMailLink> {
  try {
    const { checkMailLink } = await loadCode(() => import('../../stores/accounts/mail-links.ts'))
    return { ...link, state: 'open', ...(await checkMailLink(link, purpose)) }
  } catch (cause) {
    return {
      ...link,
      state: linkStateFromError(asAppError(cause, 'Reading the link failed')) ?? 'open'
    }
  }
}
