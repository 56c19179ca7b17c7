import type { BrowserEnvironment } from './environment.ts'

/**
 * Of all tabs of the browser, the leader does the work for all and sends messages to the followers.
 */
export interface TabGroupMembership {
  /** Does nothing in a follower. */
  send(news: unknown): void
  leave(): void
}

interface TabGroupOptions {
  /** Of the lock and the channel: `vidimus:stream:docs.acme.fr:<user>` */
  name: string
  environment: Pick<
    BrowserEnvironment,
    'now' | 'after' | 'openChannel' | 'requestLock' | 'isVisible' | 'onWake' | 'onHide'
  >
  /** Returns the function that stops the leader's work. */
  lead: () => () => void
  follow: () => void
  onNews: (news: unknown) => void
  /** Returns the message that the leader sends to a tab that has just joined. */
  snapshot: () => unknown
}

// normally a leader sends a message every 15 to 30 seconds
const silenceMs = 40_000

type Message = { from: 'leader'; news: unknown } | { from: 'follower' }

/**
 * The tab that holds the browser's lock `name` leads. A visible follower takes the lock from a
 * silent leader. Pages in the back/forward cache do not take part.
 */
export function joinTabGroup({
  name,
  environment,
  lead,
  follow,
  onNews,
  snapshot
}: TabGroupOptions): TabGroupMembership {
  const { now, after, isVisible } = environment
  let stopWork: (() => void) | undefined
  let release: () => void = () => {}
  let stopWatch: () => void = () => {}
  let lastNewsAt = now()
  let isHidden = false

  const channel = environment.openChannel(name, message => {
    if (!isMessage(message) || isHidden) return
    if (message.from === 'follower') {
      send(snapshot())
    } else if (!stopWork) {
      lastNewsAt = now()
      onNews(message.news)
    }
  })

  function send(news: unknown): void {
    if (stopWork) channel.send({ from: 'leader', news })
  }

  function requestLock(steal: boolean): void {
    lastNewsAt = now()
    release = environment.requestLock(name, {
      steal,
      onHeld() {
        stopWatch()
        stopWork = lead()
      },
      onWait() {
        follow()
        channel.send({ from: 'follower' })
        watch()
      },
      onLost() {
        stopLeading()
        requestLock(false)
      }
    })
  }

  function stopLeading(): void {
    stopWatch()
    const stop = stopWork
    stopWork = undefined
    stop?.()
  }

  // a hidden tab checks again later, because it may have become visible
  function watch(): void {
    stopWatch()
    stopWatch = after(Math.max(lastNewsAt + silenceMs - now(), 1000), () => {
      if (!takeOver()) watch()
    })
  }

  function takeOver(): boolean {
    if (stopWork || now() - lastNewsAt < silenceMs || !isVisible()) return false
    release()
    requestLock(true)
    return true
  }

  const stopWake = environment.onWake(() => {
    if (!isHidden) return void takeOver()
    isHidden = false
    requestLock(false)
  })
  const stopHide = environment.onHide(() => {
    isHidden = true
    release()
    stopLeading()
  })
  requestLock(false)

  return {
    send,
    leave() {
      isHidden = true
      stopWake()
      stopHide()
      release()
      stopLeading()
      channel.close()
    }
  }
}

// the other tab may run another release of the page
function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || !('from' in value)) return false
  return value.from === 'follower' || (value.from === 'leader' && 'news' in value)
}
