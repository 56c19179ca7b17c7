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
  state: 'open' | 'used' | 'over'
  /** For an invitation link. */
  username?: string | undefined
}

/** Removes the link from the address, because people copy addresses and browsers keep them. */
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

function linkStateFromError(error: AppError): 'used' | 'over' | undefined {
  if (error.code === 'mail_token_used') return 'used'
  return error.code === 'mail_token_invalid' ? 'over' : undefined
}

function closedLinkState(link: CheckedMailLink | 'none' | 'loading'): 'used' | 'over' | undefined {
  return typeof link === 'string' || link.state === 'open' ? undefined : link.state
}

/**
 * `closed` is why the link does not work. `handleFailure()` updates it, and returns true for an
 * error of the link.
 */
export function useLinkFailure(link: CheckedMailLink | 'none' | 'loading') {
  const [refused, setRefused] = useState<'used' | 'over'>()
  const handleFailure = (error: AppError) => {
    setRefused(linkStateFromError(error))
    return linkStateFromError(error) !== undefined
  }
  return { closed: refused ?? closedLinkState(link), handleFailure }
}

// if the check fails, for example without a network, using the link shows the error
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
