import type { Environment } from './environment.ts'

/** The tabs of one browser. One of them leads and works for all. */
export interface TabGroup {
  /** Sends news to the followers. Does nothing in a follower. */
  send(news: unknown): void
  leave(): void
}

interface TabGroupOptions {
  /** Names the lock and the channel: `vidimus:stream:docs.acme.fr:<user>`. */
  name: string
  environment: Pick<
    Environment,
    'now' | 'after' | 'openChannel' | 'holdLock' | 'isVisible' | 'onWake' | 'onHide'
  >
  /** Runs when this tab becomes the leader. Returns the function that stops its work. */
  lead: () => () => void
  /** Runs when another tab is the leader. */
  follow: () => void
  /** Runs in followers for what the leader sends. */
  onNews: (news: unknown) => void
  /** Returns what the leader sends to a tab that has just joined. */
  snapshot: () => unknown
}

/** A leader sends news every 15 to 30 seconds. After a longer silence it is frozen or gone. */
const silenceMs = 40_000

type Message = { from: 'leader'; news: unknown } | { from: 'follower' }

/**
 * Joins the tabs of this browser under `name`. The tab with the lock leads. A visible follower takes
 * the lock from a leader that is silent for too long. Pages in the browser's cache do not take part.
 */
export function joinTabGroup({
  name,
  environment,
  lead,
  follow,
  onNews,
  snapshot
}: TabGroupOptions): TabGroup {
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
    release = environment.holdLock(name, {
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

  /** Checks again and again, because a hidden tab does not take over but may become visible. */
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

/** Checks a message, because the other tab may show the page of another release. */
function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || !('from' in value)) return false
  return value.from === 'follower' || (value.from === 'leader' && 'news' in value)
}
