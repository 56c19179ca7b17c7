import { useEffect } from 'react'

const everyMs = 60_000

/**
 * Runs `check` immediately, every minute while the page is visible, and when the person returns.
 */
export function useRegularCheck(check: () => void): void {
  useEffect(() => {
    const checkIfSeen = () => {
      if (document.visibilityState === 'visible') check()
    }
    check()
    const timer = setInterval(checkIfSeen, everyMs)
    window.addEventListener('focus', check)
    document.addEventListener('visibilitychange', checkIfSeen)
    return () => {
      clearInterval(timer)
      window.removeEventListener('focus', check)
      document.removeEventListener('visibilitychange', checkIfSeen)
    }
  }, [check])
}
