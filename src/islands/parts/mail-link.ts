import { useEffect, useState } from 'react'
import { type MailLink, readMailLink } from '../../stores/mail-links.ts'

/**
 * The link that led here, taken out of the address at once: what stands there is copied into other links
 * and into the history. `'none'` for a visit without one, `'loading'` until that is known.
 */
export function useMailLink(): MailLink | 'none' | 'loading' {
  const [link, setLink] = useState<MailLink | 'none' | 'loading'>('loading')
  useEffect(() => {
    setLink(readMailLink(location.hash) ?? 'none')
    // put into the address before this ran, a link has left the router without its state
    const state = history.state ?? { index: 0, scrollX: 0, scrollY: 0 }
    history.replaceState(state, '', location.pathname + location.search)
    // the links that carry the fragment on have read it before
    dispatchEvent(new HashChangeEvent('hashchange'))
    // A link put into the address of the open page loads nothing by itself, and leaves the router
    // without the state it needs to go on.
    const start = () => {
      if (location.hash !== '') location.reload()
    }
    addEventListener('hashchange', start)
    return () => removeEventListener('hashchange', start)
  }, [])
  return link
}
